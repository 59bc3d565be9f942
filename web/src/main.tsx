import "./styles/tokens.css";
import "./styles/page.css";

import { StrictMode } from "react";
import { createRoot } from "react-dom/client";

const root = document.getElementById("root");
if (root) createRoot(root).render(<StrictMode>{null}</StrictMode>);
