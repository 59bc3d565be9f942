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
import { followSystem } from "./state/settings";

followSystem();
followHistory();
followLayers();
followTabs();
followLeaving();
followDocuments();
void start();

const root = document.getElementById("root");
if (root) {
  createRoot(root).render(
    <StrictMode>
      <App />
    </StrictMode>,
  );
}
