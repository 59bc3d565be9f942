import "./styles/tokens.css";
import "./styles/page.css";
import "./styles/more.css";

import { StrictMode } from "react";
import { createRoot } from "react-dom/client";

import { App } from "./page/App";
import { painted } from "./page/painted";
import { followRequests } from "./state/connection";
import { followDocuments } from "./state/documents";
import { followLeaving } from "./state/drafts";
import { followLayers } from "./state/layers";
import { followLife } from "./state/living";
import { followHistory } from "./state/route";
import { followTabs, start } from "./state/session";
import { followSystem, useSettings } from "./state/settings";
import { learn, learnAll } from "./words/words";

followSystem();
followHistory();
followLayers();
followLife();
followTabs();
followLeaving();
followDocuments();
followRequests();
void start();

/** Milliseconds after which the texts are asked for again. Without any the page has nothing to show. */
const AGAIN = 3000;

async function render(): Promise<void> {
  const { language } = useSettings.getState();
  try {
    await learn(language);
  } catch {
    setTimeout(() => void render(), AGAIN);
    return;
  }
  const root = document.getElementById("root");
  if (!root) return;
  createRoot(root).render(
    <StrictMode>
      <App />
    </StrictMode>,
  );
  await painted();
  await learnAll(useSettings.getState().language).catch(() => undefined);
}

void render();
