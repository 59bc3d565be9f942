import react from "@vitejs/plugin-react";
import type { Plugin } from "vite";
import { defineConfig } from "vitest/config";

// The address of a running server, for `npm run dev`.
const server = process.env.CAESURA_URL ?? "http://127.0.0.1:8000";

const proxy = { "/api": { target: server }, "/docs": { target: server } };

/** What the first paint needs and later parts share is one file: in several small ones it is longer. */
const FIRST = { name: "first", test: /node_modules\/(?:react|react-dom|scheduler|zustand)\/|preload-helper|\/src\/(?:words\/(?!Phrase|chinese|english|later)|api\/|state\/(?!documents|versions|troubles|held|overdue|storing|asking))|\/src\/log\/(?:shown|turn|events|members|same|snapshot)\.ts|\/src\/page\/(?:Icon|useMedia|keys|places|useNow|painted|lazy)\./ };

/** Tells first.js, which knows the language before the page does, in which files the first texts are. */
const texts: Plugin = {
  name: "texts",
  transformIndexHtml: {
    order: "post",
    handler(html, { bundle = {} }) {
      const file = (name: string) => Object.values(bundle).find((chunk) => chunk.type === "chunk" && chunk.facadeModuleId?.endsWith(`/src/words/${name}.ts`))?.fileName ?? "";
      const [en, zh] = [file("english"), file("chinese")];
      return en && zh ? html.replace('src="/first.js"', `src="/first.js" data-en="/${en}" data-zh="/${zh}"`) : html;
    },
  },
};

/** The page, or with `--mode frames` what its sandboxed frames load. Those have no origin, so that everybody may load
 * their files: nothing else is among them. A diagram is drawn in such a frame (frames/diagram.html), and a
 * document is shown in one (frames/still.html). */
const built = (mode: string) =>
  mode === "frames"
    ? { assetsDir: "frames/files", emptyOutDir: false, copyPublicDir: false, rolldownOptions: { input: ["frames/diagram.html", "frames/still.html"] } }
    : { assetsDir: "assets", rolldownOptions: { input: ["index.html"], output: { codeSplitting: { groups: [FIRST] } } } };

const PLAIN = ["src/{log,words,rich}/**/*.test.ts"];

export default defineConfig(({ mode }) => ({
  plugins: [react(), texts],
  // A script, a style or a frame names the files beside it, so that they are found below any root path. The document of the page is shown
  // below /c/… too: its addresses are absolute, and the server puts its root path before them.
  base: mode === "frames" ? "./" : "/",
  experimental: { renderBuiltUrl: (_, { hostType }) => (hostType === "html" ? undefined : { relative: true }) },
  build: {
    target: "es2022",
    outDir: "dist",
    // An inlined file would be a data: address, which the policy of the page forbids.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    ...built(mode),
  },
  // The worker that highlights code loads languages when they are needed.
  worker: { format: "es" },
  server: { proxy },
  preview: { proxy },
  test: {
    // A file that needs a document asks for jsdom in its first line: that costs a quarter of a second.
    environment: "node",
    // A thread begins sooner than a process.
    pool: "threads",
    projects: [
      // These keep nothing and need no document: they share one process.
      { extends: true, test: { name: "plain", include: PLAIN, isolate: false } },
      { extends: true, test: { name: "page", include: ["src/**/*.test.{ts,tsx}"], exclude: PLAIN } },
    ],
    restoreMocks: true,
    // A busy machine is no fault.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    setupFiles: ["dev/timers.ts", "dev/words.ts", "dev/patience.ts"],
  },
}));
