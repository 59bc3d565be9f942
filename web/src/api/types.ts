// The types of the API by their short names. All of them come from the OpenAPI document.
import type { components } from "./schema";

type Schemas = components["schemas"];

export type Agent = Schemas["Agent"] & { model?: string; demo?: boolean };
export type Conversation = Schemas["Conversation"] & { questions?: number };
export type Turn = Schemas["Turn"];
export type TurnStatus = Turn["status"];
export type Message = Schemas["Message"] & { at?: number | null; ms?: number | null };
export type RunningTool = Schemas["RunningTool"];
export type Usage = Record<string, number>;
export interface FileNow {
  path: string;
  exists: boolean;
  content: string | null;
  size: number;
  sha256: string | null;
}
export type Interrupt = Schemas["Interrupt"] & { file?: FileNow | null; changed?: boolean };
export type Asked = Schemas["Asked"] & { file?: FileNow | null; changed?: boolean };
export type Decision = Schemas["NewAnswer"]["decision"];
export type Answer = Schemas["NewAnswer"];
export type FormField = Schemas["FormField"];
export type Question = Schemas["Question"];
export interface Note {
  kind: "pause" | "restart" | "stopped" | "failed";
  after: number;
  at: number | null;
  ms: number | null;
  outcome: string | null;
  interrupt_id?: string | null;
}
export type SeenTurn = Omit<Schemas["SeenTurn"], "messages" | "interrupts"> & {
  messages: Message[];
  interrupts: Interrupt[];
  model?: string | null;
  demo?: boolean;
  usage?: Usage | null;
  siblings?: string[];
  notes?: Note[];
};
export interface Read {
  turn_id: string;
  cursor: number;
  at: number;
}
export type Snapshot = Omit<Schemas["Snapshot"], "turns" | "conversation"> & { conversation: Conversation; turns: SeenTurn[]; read?: Read | null };
export type Grant = Schemas["Grant"];
export type Artifact = Schemas["Artifact"];
export type ArtifactVersion = Schemas["Entry"];

/** The body of a request, as the route describes it. */
export type NewTurn = Partial<Schemas["NewTurn"]> & { content: string };
export type NewAnswer = Partial<Answer> & { decision: Decision };
