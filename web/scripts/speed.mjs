// Measures what a long answer costs the page in Chromium: 4,000 tokens, one with each animation frame.
//
//   node scripts/speed.mjs [--tokens 4000] [--kind mixed] [--profile file.cpuprofile] folder …
//
// A folder is a built page (dist, or src/caesura/page of a checkout). With several folders they are measured in turn, so
// that their ratio says something on a busy machine, too. Nothing here needs a server: the API is played by this script.
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { extname, join } from "node:path";
import { parseArgs } from "node:util";

import { chromium } from "playwright-core";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { tokens: { type: "string", default: "4000" }, kind: { type: "string", default: "mixed" }, profile: { type: "string" }, runs: { type: "string", default: "1" } },
});
const TYPES = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml" };
const SECTION =
  "## Part\n\nSome **bold** words and `code`, then *more* of them with a [link](https://example.com/a) to read on and on until the line is long enough to wrap twice.\n\n- first item of the list\n- second item with `code` in it\n- third item\n\n1. one\n2. two\n\n> A quote that says something.\n\n| Step | Now | After |\n|---|--:|--:|\n| Type checking | 41.2 s | 9.8 s |\n| Bundling | 18.3 s | 6.1 s |\n\n```python\ndef work(n: int) -> int:\n    # a note\n    return n * 2 + len(\"text\")\n```\n\n";
const KINDS = { mixed: SECTION, paragraph: "words and more **bold** words and `code` to read. ", list: "- an item of one very long list with `code` and **bold** words\n" };

function tokens() {
  const text = (KINDS[values.kind] ?? SECTION).repeat(Math.ceil((Number(values.tokens) * 6) / 40));
  return (text.match(/\s*\S{1,5}/g) ?? []).slice(0, Number(values.tokens));
}

const AT = 1_790_000_000_000;
const CONVERSATION = { id: "c1", title: "Speed", agent: "a", status: "running", active_turn: "t1", message_count: 1, created_at: AT, updated_at: AT, questions: 0 };
const TURN = {
  id: "t1", conversation_id: "c1", parent_id: null, ordinal: 1, agent: "a", status: "running", segment: 1, content: "go", on_disconnect: "continue", created_at: AT, ended_at: null,
  messages: [], interrupts: [], running_tools: [], notes: [], cursor: 0, model: "demo", demo: true, usage: null, siblings: ["t1"],
};
const AGENT = { name: "a", description: "", version: "1", metadata_version: null, type: "chat_model_agent", sub_agents: [], is_default: true, model: "demo", demo: true };
const ANSWERS = [
  ["/api/auth/session", { user_id: "alice", csrf: "x", expires_at: AT * 2 }],
  ["/api/auth/options", { auth: "password", registration: "open" }],
  ["/api/v2/agents", { agents: [AGENT] }],
  ["/api/v2/conversations/c1/snapshot", { conversation: CONVERSATION, turns: [TURN], before: null, read: null, turn: "t1", cursor: 0 }],
  ["/api/v2/conversations/c1/artifacts", { artifacts: [] }],
  ["/api/v2/conversations/c1/grants", { grants: [] }],
  ["/api/v2/conversations", { conversations: [CONVERSATION], total: 1, next: null }],
  ["/api/v2/interrupts", { interrupts: [], next: null }],
];

/** Runs in the page: streams are made here, one token with each frame. */
function play(words) {
  const real = window.fetch.bind(window);
  const encoder = new TextEncoder();
  const frame = (id, event, data) => encoder.encode(`id: ${id}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
  let at = 0;
  window.fetch = (address, options) => {
    const path = String(address);
    if (path.endsWith("/feed")) return Promise.resolve(new Response(new ReadableStream({ start: (end) => end.enqueue(frame("1", "ready", { inbox: 0 })) })));
    if (!path.includes("/turns/t1/events")) return real(address, options);
    const body = new ReadableStream({
      start(controller) {
        const send = (event, data) => controller.enqueue(frame((at += 1), event, data));
        send("run_started", { at: 1, agent: "a", segment: 1, cause: "start", epoch: 0 });
        send("model_started", { at: 1, call: 1, agent: "a", model: "demo", parent: null, ref: "" });
        let next = 0;
        const step = () => {
          send("text_delta", { call: 1, text: words[next] });
          next += 1;
          if (next < words.length) requestAnimationFrame(step);
          else {
            send("model_finished", { at: 2, call: 1, tool_calls: [], usage: null, finish_reason: null });
            send("finished", { at: 2 });
            send("segment_ended", { at: 2 });
          }
        };
        window.begin = () => requestAnimationFrame(step);
      },
    });
    return Promise.resolve(new Response(body));
  };
}

function answer(folder, route) {
  const { pathname } = new URL(route.request().url());
  const known = ANSWERS.find(([path]) => path === pathname);
  if (known) return route.fulfill({ json: known[1] });
  if (pathname.startsWith("/api/")) return route.fulfill({ status: 204 });
  const file = join(folder, pathname);
  const found = extname(pathname) !== "" && statSync(file, { throwIfNoEntry: false })?.isFile() ? file : join(folder, "index.html");
  return route.fulfill({ body: readFileSync(found), contentType: TYPES[extname(found)] ?? "application/octet-stream" });
}

async function measure(browser, folder, profile) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  await page.route("**/*", (route) => answer(folder, route));
  await page.addInitScript(play, tokens());
  await page.goto("http://page.test/c/c1");
  await page.waitForFunction(() => window.begin !== undefined && document.querySelector(".turn") !== null);
  await page.waitForTimeout(1500);
  const client = await page.context().newCDPSession(page);
  await client.send("Performance.enable");
  if (profile) {
    await client.send("Profiler.enable");
    await client.send("Profiler.setSamplingInterval", { interval: 200 });
    await client.send("Profiler.start");
  }
  const read = async () => Object.fromEntries((await client.send("Performance.getMetrics")).metrics.map(({ name, value }) => [name, value]));
  const before = await read();
  await page.evaluate(() => window.begin());
  await page.waitForFunction(() => document.querySelector(".turn.done") !== null, null, { polling: 1000, timeout: 600_000 });
  const after = await read();
  if (profile) writeFileSync(profile, JSON.stringify((await client.send("Profiler.stop")).profile));
  const characters = await page.evaluate(() => document.querySelector(".turn .prose").textContent.length);
  await page.close();
  const spent = (name) => Math.round((after[name] - before[name]) * 1000);
  return { folder, script: spent("ScriptDuration"), layout: spent("LayoutDuration"), style: spent("RecalcStyleDuration"), task: spent("TaskDuration"), characters };
}

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
for (let run = 0; run < Number(values.runs); run += 1) for (const folder of positionals.length > 0 ? positionals : ["dist"]) console.log(JSON.stringify(await measure(browser, folder, values.profile)));
await browser.close();
