// A client of API C by its rules: frames are split at a blank line, each has one `event: ` and one `data: ` line, the
// client dispatches on `type` and appends `data.delta`. An interrupt ends the stream for it, and it resumes with the
// next of the given inputs. Prints what it has shown, as JSON.
//
//   node superagent.mjs URL TOKEN AGENT SESSION MESSAGE INPUTS

const [url, token, agentId, sessionId, message, inputs] = process.argv.slice(2)
const answers = JSON.parse(inputs)
const shown = { text: '', content: null, types: [], interrupts: [], errors: [], unmatched: 0 }

async function read(path, body) {
  const response = await fetch(url + path, {
    method: 'POST',
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json', 'X-A2UI': 'true' },
    body: JSON.stringify({ agent_id: agentId, session_id: sessionId, ...body }),
  })
  if (!response.ok) {
    shown.errors.push({ status: response.status, ...(await response.json()) })
    return
  }
  const reader = response.body.getReader()
  const decoder = new TextDecoder()
  let buffer = ''
  while (true) {
    const { done, value } = await reader.read()
    if (done) break
    buffer += decoder.decode(value, { stream: true })
    const frames = buffer.split('\n\n')
    buffer = frames.pop()
    for (const frame of frames) {
      const eventMatch = frame.match(/^event: (.+)/m)
      const dataMatch = frame.match(/^data: (.+)/m)
      if (!eventMatch || !dataMatch) {
        shown.unmatched += 1
        continue
      }
      const event = JSON.parse(dataMatch[1])
      if (event.type !== eventMatch[1]) throw new Error(`${event.type} in a frame ${eventMatch[1]}`)
      shown.types.push(event.type)
      if (event.type === 'interrupt') {
        shown.interrupts.push(event.data)
        await reader.cancel()
        if (answers.length > 0) await read('/api/v1/chat/resume', { input: answers.shift() })
        return
      }
      if (event.type === 'text') {
        shown.text += event.data.delta
        shown.content = event.data.content ?? shown.content
      }
      if (event.type === 'error') shown.errors.push(event.data)
    }
  }
}

await read('/api/v1/chat/stream', { message })
console.log(JSON.stringify(shown))
