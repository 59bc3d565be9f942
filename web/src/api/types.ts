// The types of the API by their short names. All of them come from the OpenAPI document.
import type { components } from "./schema";

type Schemas = components["schemas"];

export type Agent = Schemas["Agent"];
export type Conversation = Schemas["Conversation"];
export type Turn = Schemas["Turn"];
export type TurnStatus = Turn["status"];
export type Message = Schemas["Message"];
export type Usage = Record<string, number>;
export type Interrupt = Schemas["Interrupt"];
export type Asked = Schemas["Asked"];
export type Decision = Schemas["NewAnswer"]["decision"];
export type FormField = Schemas["FormField"];
export type Question = Schemas["Question"];
export type Note = Schemas["Note"];
export type SeenTurn = Schemas["SeenTurn"];
export type Snapshot = Schemas["Snapshot"];
export type Read = NonNullable<Snapshot["read"]>;
export type Grant = Schemas["Grant"];
export type Artifact = Schemas["Artifact"];
export type ArtifactVersion = Schemas["Entry"];
export type Options = Schemas["Options"];

/** Who signed in, and the token that goes with every request that changes something. */
export type Session = Schemas["Begun"];

/** The body of a request, as the route describes it. */
export type NewTurn = Partial<Schemas["NewTurn"]> & { content: string };
export type NewAnswer = Partial<Schemas["NewAnswer"]> & { decision: Decision };
