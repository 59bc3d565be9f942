// The menus, loaded together.
export { AgentMenu } from "./AgentMenu";
export { ConversationMenu } from "./ConversationMenu";
export { Rename } from "./Rename";
