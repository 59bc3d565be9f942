import "./styles/tokens.css";
import "./styles/page.css";
import "./styles/more.css";

import { StrictMode } from "react";
import { createRoot } from "react-dom/client";

import { App } from "./page/App";
import { followDocuments } from "./state/documents";
import { followLeaving } from "./state/drafts";
import { followLayers } from "./state/layers";
import { followHistory } from "./state/route";
import { followTabs, start } from "./state/session";
import { followSystem, useSettings } from "./state/settings";
import { learn } from "./words/words";

followSystem();
followHistory();
followLayers();
followTabs();
followLeaving();
followDocuments();
void start();

/** Without the texts of its language the page speaks English. */
async function render(): Promise<void> {
  const root = document.getElementById("root");
  await learn(useSettings.getState().language).catch(() => undefined);
  if (!root) return;
  createRoot(root).render(
    <StrictMode>
      <App />
    </StrictMode>,
  );
}

void render();
