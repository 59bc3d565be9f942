// The agents that can be talked to.
import { create } from "zustand";

import * as api from "../api/calls";
import type { Agent } from "../api/types";

interface Agents {
  agents: Agent[];
  names: ReadonlySet<string>;
  /** The agent for the next new conversation, or null for the default one. */
  chosen: string | null;
}

export const useAgents = create<Agents>()(() => ({ agents: [], names: new Set(), chosen: null }));

export async function loadAgents(): Promise<void> {
  const { agents } = await api.agents();
  useAgents.setState({ agents, names: new Set(agents.map((agent) => agent.name)) });
}

export function chooseAgent(name: string): void {
  useAgents.setState({ chosen: name });
}

export function defaultAgent(agents: readonly Agent[]): Agent | undefined {
  return agents.find((agent) => agent.is_default) ?? agents[0];
}
