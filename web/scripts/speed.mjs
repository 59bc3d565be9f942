// Measures what a long answer costs the page in Chromium: 4,000 tokens, one in the time of each
// animation frame.
//
//   node scripts/speed.mjs [--tokens 4000] [--kind mixed] [--runs 1] [--profile file.cpuprofile] folder …
//
// It needs playwright-core (npm install --no-save playwright-core). A folder is a built page (dist, or src/caesura/page of a checkout). With several folders they are measured in turn, so
// that their ratio says something on a busy machine, too. The API is played by this script.
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
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

/** Milliseconds. */
const FRAME = 1000 / 60;
const AT = 1_790_000_000_000;
const CONVERSATION = { id: "c1", title: "Speed", agent: "a", status: "running", active_turn: "t1", message_count: 1, created_at: AT, updated_at: AT, questions: 0 };
const TURN = {
  id: "t1", conversation_id: "c1", parent_id: null, ordinal: 1, agent: "a", status: "running", segment: 1, content: "go", on_disconnect: "continue", created_at: AT, ended_at: null,
  messages: [], interrupts: [], running_tools: [], writing_tools: [], notes: [], cursor: 0, model: "demo", demo: true, usage: null, siblings: ["t1"],
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

const frame = (id, event, data) => `id: ${id}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
let begin = () => undefined;

/** Streams the turn, once `begin` is called: one token in the time of a frame. */
async function speak(response) {
  let id = 0;
  const send = (event, data) => response.write(frame((id += 1), event, { at: AT, ...data }));
  send("run_started", { agent: "a", segment: 1, cause: "start", epoch: 0 });
  send("model_started", { call: 1, agent: "a", model: "demo", parent: null, ref: "" });
  await new Promise((done) => (begin = done));
  const began = performance.now();
  const words = tokens();
  for (let next = 0; next < words.length; ) {
    while (next < words.length && performance.now() - began >= next * FRAME) send("text_delta", { call: 1, text: words[next++] });
    await new Promise((done) => setTimeout(done, FRAME / 2));
  }
  send("model_finished", { call: 1, tool_calls: [], usage: null, finish_reason: null });
  send("finished", {});
  send("segment_ended", {});
  setTimeout(() => response.end(), 2000);
}

function serve(folder) {
  return createServer((request, response) => {
    const { pathname } = new URL(request.url, "http://page.test");
    const known = ANSWERS.find(([path]) => path === pathname);
    const stream = () => response.writeHead(200, { "Content-Type": "text/event-stream" });
    if (known) response.writeHead(200, { "Content-Type": "application/json" }).end(JSON.stringify(known[1]));
    else if (pathname === "/api/v2/feed") stream().write(frame(1, "ready", { inbox: 0, user_id: "alice" }));
    else if (pathname === "/api/v2/turns/t1/events" && request.headers["last-event-id"] === undefined) void speak(stream());
    else if (pathname.startsWith("/api/")) response.writeHead(204).end();
    else {
      const file = join(folder, pathname);
      const found = extname(pathname) !== "" && statSync(file, { throwIfNoEntry: false })?.isFile() ? file : join(folder, "index.html");
      response.writeHead(200, { "Content-Type": TYPES[extname(found)] ?? "application/octet-stream" }).end(readFileSync(found));
    }
  });
}

async function measure(browser, folder, profile) {
  const server = serve(folder);
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  await page.goto(`http://127.0.0.1:${server.address().port}/c/c1`);
  await page.waitForSelector(".turn");
  await page.waitForTimeout(2000);
  const client = await page.context().newCDPSession(page);
  // The time of the processor, which other programs do not change much.
  await client.send("Performance.enable", { timeDomain: "threadTicks" });
  if (profile) {
    await client.send("Profiler.enable");
    await client.send("Profiler.setSamplingInterval", { interval: 200 });
    await client.send("Profiler.start");
  }
  const read = async () => Object.fromEntries((await client.send("Performance.getMetrics")).metrics.map(({ name, value }) => [name, value]));
  const before = await read();
  begin();
  await page.waitForFunction(() => document.querySelector(".turn.done") !== null, null, { polling: 1000, timeout: 600_000 });
  const after = await read();
  if (profile) writeFileSync(profile, JSON.stringify((await client.send("Profiler.stop")).profile));
  const characters = await page.evaluate(() => document.querySelector(".turn .prose").textContent.length);
  await page.close();
  server.closeAllConnections();
  server.close();
  const spent = (name) => Math.round((after[name] - before[name]) * 1000);
  return { folder, script: spent("ScriptDuration"), layout: spent("LayoutDuration"), style: spent("RecalcStyleDuration"), task: spent("TaskDuration"), characters };
}

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
for (let run = 0; run < Number(values.runs); run += 1) for (const folder of positionals.length > 0 ? positionals : ["dist"]) console.log(JSON.stringify(await measure(browser, folder, values.profile)));
await browser.close();
