// The texts of the page in Chinese, as far as its first paint needs them.
import type { ENGLISH } from "./english";

export const CHINESE: Record<keyof typeof ENGLISH, string> = {
  // signing in
  verseA: "停在任意一处",
  verseB: "从那里继续。",
  signInLead: "与智能体的对话，一个字也不会丢。",
  username: "用户名",
  password: "密码",
  signIn: "登录",
  register: "注册",
  newHere: "第一次来？",
  haveAccount: "已有账号？",
  fillIn: "请填写此项。",
  wrongLogin: "用户名或密码不正确。",
  nameTaken: "用户名已被占用。",
  passwordRule: "至少 8 个字符。",
  nameRule: "小写字母、数字和 . _ -，最多 50 个。",

  // sidebar
  conversations: "对话",
  newConversation: "新对话",
  inbox: "待处理",
  sideEmpty: "对话会出现在这里。",
  today: "今天",
  yesterday: "昨天",
  earlier: "更早",
  statusRunning: "运行中",
  statusWaits: "等你处理",
  more: "更多",
  rename: "重命名",
  loadingMore: "正在加载",
  search: "搜索标题",
  searching: "正在搜索",
  nothingFound: "没有标题包含它。",
  skipToBox: "跳到输入框",
  skipToMain: "跳到内容",
  hideSidebar: "收起侧栏",
  openSidebar: "打开侧栏",

  // settings
  settings: "设置",
  theme: "主题",
  connectModel: "接入模型",

  // the model
  demo: "演示（非 AI）",
  demoText: "现在回答你的是一套规则，不是 AI。流式输出、提问和工具调用都是真的，你可以把功能都试一遍。",

  // first visit
  firstTitle: "从哪里开始？",
  exStream: "看流式输出",
  exStreamHint: "中途关掉页面，再回来看。",
  exApprove: "批准一步操作",
  exApproveHint: "你点头之前，它会停住。",
  exAsk: "回答它的问题",
  exAskHint: "选一个，或写自己的答案。",
  exArtifact: "写一份文档",
  exArtifactHint: "每个版本都保留，可任意比较。",

  // composer
  messages: "消息",
  placeholder: "输入消息",
  placeholderReply: "回复",
  placeholderWaiting: "改说别的（会拒绝请求）",
  send: "发送",
  stop: "停止",
  agent: "智能体",
  latest: "最新",
  waitsPill: "等你处理：{0}",

  // the keep line, below the composer; its rarer texts come later
  keepIdle: "每个字都已保存。",
  keepRunning: "在服务器上运行，可以关掉此页。",
  keepWaiting: "已暂停，等你回答，可以关掉此页。",
  keepLost: "只是连接断了，内容没有丢失。{0} 秒后重连。",
  keepSending: "发送中",
  tryNow: "立即重连",

  // an answer
  retry: "重试",

  // artifacts
  documents: "文档",

  // loading and faults
  loading: "正在打开对话",
  nothingHere: "这里什么都没有。",
  home: "回到首页",
  notFound: "没有这个对话，或它不属于你。",

  // signing in, besides
  invite: "邀请码",
  registrationClosed: "新账号由服务器管理员创建。",
  tooManyTries: "尝试太多次，请稍后再试。",
  noServer: "服务器没有响应。",
  docsLink: "API",

  // why something was not done, by the code of the server
  inviteWrong: "邀请码无效：可能有误、已使用或已过期。",

  // an answer, besides
  untitled: "新对话",

  // announcements, faults
  answerReady: "回答完成",
  connectionLost: "连接断了",
  keepConnecting: "正在连接",
  keepQueued: "已在服务器排队，可以关掉此页。",
  loadFailed: "加载失败。",
};
