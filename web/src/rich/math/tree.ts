// A formula in the tree of a text: an element `code` with the class `math`, which the page draws.
import type { Literal, PhrasingContent } from "mdast";
import type { Extension } from "mdast-util-from-markdown";

interface Formula extends Literal {
  type: "formula";
  data: { hName: string; hProperties: { className: string[] }; hChildren: { type: "text"; value: string }[] };
}

declare module "mdast" {
  interface PhrasingContentMap {
    formula: Formula;
  }
  interface RootContentMap {
    formula: Formula;
  }
}

const DISPLAYED = /^(?:\$\$|\\\[)/;
const MARKS = /^(?:\$\$?|\\[([])|(?:\$\$?|\\[)\]])$/g;

function formulaOf(source: string): Formula & PhrasingContent {
  const value = source.replace(MARKS, "").trim();
  const className = DISPLAYED.test(source) ? ["math", "display"] : ["math"];
  return { type: "formula", value, data: { hName: "code", hProperties: { className }, hChildren: [{ type: "text", value }] } };
}

export const formulaTree: Extension = {
  enter: {
    formula(token) {
      this.enter(formulaOf(this.sliceSerialize(token)), token);
    },
  },
  exit: {
    formula(token) {
      this.exit(token);
    },
  },
};
