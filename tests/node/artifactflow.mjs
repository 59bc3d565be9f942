// A front end of API B: sends a message, reads its stream, decides on each question, and opens a new stream.
// Prints what it saw, as JSON.
//
//   node --experimental-eventsource artifactflow.mjs eventsource|fetch URL TOKEN MESSAGE DECISIONS
//
// DECISIONS is a JSON list: what to decide on the first question, the second and so on. `eventsource` needs a
// ticket for each stream, because it can send no token. If a stream breaks, it is opened again after the last
// event.

const [way, base, token, content, decisions] = process.argv.slice(2)
const ENDS = ['complete', 'interrupt', 'error']
const seen = { events: [], streams: 0, breaks: 0 }

async function call(method, path, body) {
  const headers = { 'Content-Type': 'application/json', Authorization: `Bearer ${token}` }
  const response = await fetch(base + path, { method, headers, body: body && JSON.stringify(body) })
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
  return response.json()
}

function take(name, data, id) {
  seen.events.push([id, name, JSON.parse(data)])
}

// One connection with an EventSource. Resolves with whether the stream came to its end.
async function listen(path, last) {
  const { ticket } = await call('POST', '/api/v2/stream-ticket', { stream: path })
  const query = new URLSearchParams(last ? { ticket, after: last } : { ticket })
  const source = new EventSource(`${base}${path}?${query}`)
  seen.streams += 1
  return new Promise((resolve) => {
    const close = (ended) => {
      source.close() // or it would connect again by itself, with a ticket that was used
      resolve(ended)
    }
    for (const name of ['metadata', 'stream', ...ENDS]) {
      source.addEventListener(name, (event) => {
        if (event.data === undefined) return close(false) // the connection's own `error`, without data
        take(name, event.data, event.lastEventId)
        if (ENDS.includes(name)) close(true)
      })
    }
  })
}

// The same with fetch, which sends the token and the header itself.
async function fetched(path, last) {
  const headers = { Authorization: `Bearer ${token}`, ...(last && { 'Last-Event-ID': last }) }
  const response = await fetch(base + path, { headers })
  seen.streams += 1
  const decoder = new TextDecoder()
  let buffer = '', ended = false
  try {
    for await (const piece of response.body) {
      buffer += decoder.decode(piece, { stream: true })
      const blocks = buffer.split('\n\n')
      buffer = blocks.pop()
      for (const block of blocks) {
        const fields = Object.fromEntries(
          block.split('\n').map((line) => [line.split(':', 1)[0], line.slice(line.indexOf(':') + 2)]),
        )
        if (fields.data === undefined) continue // a ping
        take(fields.event, fields.data, fields.id)
        ended ||= ENDS.includes(fields.event)
      }
    }
  } catch {
    return ended // the connection broke
  }
  return ended
}

const connect = way === 'eventsource' ? listen : fetched
const last = () => seen.events.at(-1)

async function follow(path) {
  let after = null
  while (!(await connect(path, after))) {
    seen.breaks += 1
    after = last()?.[0] ?? null
  }
}

const sent = await call('POST', '/api/v1/chat', { content })
await follow(sent.stream_url)
for (const decision of JSON.parse(decisions)) {
  const [, name, asked] = last()
  if (name !== 'interrupt') throw new Error(`asked nothing: ${name}`)
  const { conversation_id, thread_id, message_id, interrupt_data } = asked
  const body = { thread_id, message_id, interrupt_id: interrupt_data.interrupt_id, ...decision }
  const { stream_url } = await call('POST', `/api/v1/chat/${conversation_id}/resume`, body)
  await follow(stream_url) // a new connection: the old one is closed
}
const again = await fetch(base + sent.stream_url, {
  headers: { Authorization: `Bearer ${token}`, 'Last-Event-ID': last()[0] },
})
console.log(JSON.stringify({ ...seen, sent, after: again.status }))
