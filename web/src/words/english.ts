// The texts of the page in English, as far as its first paint needs them. {0}, {1} are filled in. The page has no other words of its own.
export const ENGLISH = {
  // signing in
  verseA: "Stop anywhere",
  verseB: "go on from there.",
  signInLead: "Conversations with agents that never lose a word.",
  username: "Username",
  password: "Password",
  signIn: "Sign in",
  register: "Create account",
  newHere: "New here?",
  haveAccount: "Have an account?",
  fillIn: "Please fill this in.",
  wrongLogin: "Incorrect username or password.",
  nameTaken: "This name is taken.",
  passwordRule: "8 characters or more.",
  nameRule: "Lowercase letters, digits, . _ - ; up to 50.",

  // sidebar
  conversations: "Conversations",
  newConversation: "New conversation",
  inbox: "Inbox",
  sideEmpty: "Conversations appear here.",
  today: "Today",
  yesterday: "Yesterday",
  earlier: "Earlier",
  statusRunning: "running",
  statusWaits: "waits for you",
  more: "More",
  rename: "Rename",
  loadingMore: "Loading more",
  search: "Search titles",
  searching: "Searching",
  nothingFound: "No title has this.",
  skipToBox: "To the message box",
  skipToMain: "To the content",
  hideSidebar: "Hide sidebar",
  openSidebar: "Open sidebar",

  // settings
  settings: "Settings",
  theme: "Theme",
  connectModel: "Connect a model",

  // the model
  demo: "demo (no AI)",
  demoText: "You are talking to a set of rules, not to an AI. It really streams, asks and calls tools, so you can try everything.",

  // first visit
  firstTitle: "Where shall we begin?",
  exStream: "Watch it stream",
  exStreamHint: "Close the tab midway, then come back.",
  exApprove: "Approve a step",
  exApproveHint: "It pauses until you say yes.",
  exAsk: "Answer its questions",
  exAskHint: "Pick an option, or write your own.",
  exArtifact: "Write a document",
  exArtifactHint: "Every version is kept. Compare any two.",

  // composer
  messages: "Messages",
  placeholder: "Write a message",
  placeholderReply: "Reply",
  placeholderWaiting: "Reply instead (refuses the request)",
  send: "Send",
  stop: "Stop",
  agent: "Agent",
  latest: "Latest",
  waitsPill: "Waits for you: {0}",

  // the keep line, below the composer; its rarer texts come later
  keepIdle: "Every word is kept.",
  keepRunning: "Runs on the server. You can close this tab.",
  keepWaiting: "Paused until you answer. You can close this tab.",
  keepLost: "Connection lost, nothing else. Next try in {0} s.",
  keepSending: "Sending",
  tryNow: "Try now",

  // an answer
  retry: "Try again",

  // artifacts
  documents: "Documents",

  // loading and faults
  loading: "Opening the conversation",
  nothingHere: "Nothing is here.",
  home: "Go home",
  notFound: "There is no such conversation, or it is not yours.",

  // signing in, besides
  invite: "Invite code",
  registrationClosed: "New accounts are made by whoever runs this server.",
  tooManyTries: "Too many tries. Wait a little.",
  noServer: "The server does not answer.",
  docsLink: "API",

  // why something was not done, by the code of the server
  inviteWrong: "This invite code is not valid: it is wrong, was used or is too old.",

  // an answer, besides
  untitled: "New conversation",

  // announcements, faults
  answerReady: "Answer ready",
  connectionLost: "Connection lost",
  keepConnecting: "Connecting",
  keepQueued: "Queued on the server. You can close this tab.",
  loadFailed: "This could not be loaded.",
} as const satisfies Record<string, string>;
