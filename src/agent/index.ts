import { repositoryFiles } from './manifests/clusterctl.ts';
import { plainDefinitions, WEBHOOK_SIGNERS } from './manifests/component-files.ts';
import { runAgentProgram } from './program/agent-program.ts';
import { AGENT_FLAGS } from './program/flags.ts';
import { localWebhooks } from './program/local-webhooks.ts';
import { agentNeeds } from './program/needs.ts';

export type { WebhookSigner } from './manifests/component-files.ts';
export { agentNames } from './manifests/names.ts';
export type { Provider } from './provider.ts';

/** The Agent providers for Cluster API: what others know of this folder. */
export const agent = {
  name: 'agent',
  acronym: 'CAPOA',
  /** For the reference. */
  flags: AGENT_FLAGS,
  /** Runs to its end, and never throws for what a user can put right. */
  run: runAgentProgram,
  /** What a provider asks of the API server, for its roles. Sends nothing. */
  needs: agentNeeds,
  repositoryFiles,
  /** Its kinds alone, for a cluster that cannot ask it. */
  plainDefinitions,
  /** Admission and conversion for an API server in this process. */
  webhooks: localWebhooks,
  webhookSigners: WEBHOOK_SIGNERS,
} as const;
