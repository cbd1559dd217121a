import { pathToFileURL } from 'node:url';
import { agent, agentNames, type Provider, type WebhookSigner } from '../../agent/index.ts';
import type { Rendered, RenderedFile } from './rendered.ts';
import { streamText } from './stream.ts';

export interface AgentWish {
  readonly image: string;
  /** Of the certificates of webhooks. */
  readonly signer: WebhookSigner;
  /** Of the release, without the `v`. */
  readonly version: string;
}

/** Both providers, each with its components and its metadata where clusterctl looks for them (agent/P6). */
export function renderAgent(wish: AgentWish): Rendered {
  const files = agent.repositoryFiles(wish).map(
    ({ path, objects, isForCluster }): RenderedFile => ({
      path,
      objects: isForCluster ? objects : [],
      text: streamText(objects),
    }),
  );
  return { files, hints: [], input: wish };
}

/** Its kinds without what asks the providers: for those who run them on their own machine. */
export function renderAgentDefinitions(): Rendered {
  const objects = TYPES.flatMap(([provider]) => agent.plainDefinitions(provider));
  const files = [{ path: 'definitions.yaml', objects, text: streamText(objects) }];
  return { files, hints: [], input: objects };
}

const TYPES: readonly (readonly [Provider, string])[] = [
  ['bootstrap', 'BootstrapProvider'],
  ['control-plane', 'ControlPlaneProvider'],
];

export const FOLDERS_ONLY = 'clusterctl reads folders only: for it, name one with --out';

/** How clusterctl is told of the folder. */
export function repositoryHint(version: string, folder: string): string {
  const entries = TYPES.map(([provider, type]) => {
    const { label, componentsFile } = agentNames(provider);
    const url = pathToFileURL(`${folder}/${label}/v${version}/${componentsFile}`).href;
    return `  - name: ${PROVIDER_NAME}\n    type: ${type}\n    url: ${url}\n`;
  });
  return `for clusterctl, put this into a file such as clusterctl.yaml:\nproviders:\n${entries.join('')}and install with:\n${INSTALL}`;
}

const PROVIDER_NAME = 'openshift-assisted';

const INSTALL = `clusterctl init --config clusterctl.yaml --core cluster-api --infrastructure metal3 \\
  --bootstrap ${PROVIDER_NAME} --control-plane ${PROVIDER_NAME}`;
