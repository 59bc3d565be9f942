import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

// The address of a running server, for `npm run dev`.
const server = process.env.CAESURA_URL ?? "http://127.0.0.1:8000";

const proxy = { "/api": { target: server }, "/docs": { target: server } };

export default defineConfig({
  plugins: [react()],
  // Relative addresses would break below /c/….
  base: "/",
  build: {
    target: "es2022",
    outDir: "dist",
    assetsDir: "assets",
    // An inlined file would be a data: address, which the policy of the page forbids.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // A diagram is drawn in a frame of its own (frames/diagram.html).
    rolldownOptions: { input: ["index.html", "frames/diagram.html"] },
  },
  // The worker that highlights code loads languages when they are needed.
  worker: { format: "es" },
  server: { proxy },
  preview: { proxy },
  test: {
    environment: "jsdom",
    include: ["src/**/*.test.{ts,tsx}"],
    restoreMocks: true,
    setupFiles: ["dev/timers.ts"],
  },
});
