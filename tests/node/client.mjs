// Reads a stream the way a web page does: split at line breaks, take `event:` and `data:` lines, one JSON on
// each `data:` line, and look at nothing else. Prints what a page would show, as JSON.
//
//   node client.mjs METHOD URL [TOKEN [BODY]]

class Chat {
  text = ''
  title = null
  tools = {}
  interrupt = null
  errors = []
  ends = 0
  resets = 0
  unknown = []
  events = []
  currentEvent = ''

  parseLine(line) {
    if (line.startsWith('event:')) {
      this.currentEvent = line.slice(6).trim()
    } else if (line.startsWith('data:')) {
      this.handle(this.currentEvent, JSON.parse(line.slice(5).trim()))
    }
  }

  handle(event, data) {
    this.events.push([event, data])
    switch (event) {
      case 'messages/partial':
        this.text += data.content
        break
      case 'messages/reset':
        this.text = ''
        this.resets += 1
        break
      case 'tool/start':
        this.tools[data.id] = { tool: data.tool, input: data.input, output: null }
        break
      case 'tool/end':
        this.tools[data.id] = { ...this.tools[data.id], tool: data.tool, output: data.output }
        break
      case 'interrupt':
        this.interrupt = Array.isArray(data.questions) && data.questions.length > 0 ? 'questions' : 'confirm'
        break
      case 'title_updated':
        this.title = data.title
        break
      case 'error':
        this.errors.push(data.message)
        break
      case 'end':
        this.ends += 1
        break
      default:
        this.unknown.push(event)
    }
  }
}

const [method, url, token, body] = process.argv.slice(2)
const headers = { 'Content-Type': 'application/json' }
if (token) headers.Authorization = `Bearer ${token}`
const response = await fetch(url, { method, headers, body })
const chat = new Chat()
if (response.ok && response.body) {
  const reader = response.body.getReader()
  const decoder = new TextDecoder()
  let buffer = ''
  while (true) {
    const { done, value } = await reader.read()
    if (done) break
    buffer += decoder.decode(value, { stream: true })
    const lines = buffer.split('\n')
    buffer = lines.pop() || ''
    for (const line of lines) chat.parseLine(line)
  }
}
console.log(JSON.stringify({ ...chat, status: response.status }))
