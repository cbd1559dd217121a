import { createManager } from '../../kube/manager/create-manager.ts';
import type { Need } from '../../kube/rbac/need.ts';
import { electionNeeds, eventNeeds, reviewNeeds } from '../../kube/rbac/runtime-needs.ts';
import { offlineProvider } from '../../sdk/provider/connect-provider.ts';
import type { ProviderDefinition } from '../../sdk/provider/provider-definition.ts';
import type { CloudController } from '../cloud-controller.ts';
import type { InstallNeeds } from '../manifests/install-options.ts';
import { ACCOUNT_NEEDS } from './account-token.ts';
import { ClientAuthority } from './client-authority.ts';
import { isControllerEnabled } from './controller-list.ts';
import type { ProgramSettings } from './settings.ts';

export interface NeedsOptions {
  readonly controllers: readonly CloudController[];
  readonly definition: ProviderDefinition;
  readonly settings: ProgramSettings;
}

const OFFLINE = () => Promise.reject(new Error('nobody is asked while the needs of a program are counted'));
const WATCHING: ReadonlySet<string> = new Set(['list', 'watch']);
const READING: ReadonlySet<string> = new Set(['get', ...WATCHING]);

/**
 * What a program with these settings asks of the API server, without what comes with Kubernetes: who signs client
 * certificates, and the right to get tokens. Sends nothing. Throws a userError for settings that end the program (T1).
 */
export function cloudNeeds({ controllers, definition, settings }: NeedsOptions): InstallNeeds {
  const provider = offlineProvider(definition);
  const { cloud } = settings;
  const accounts = new Map<string, readonly Need[]>();
  for (const one of controllers) {
    const isOff = !isControllerEnabled(one.name, cloud.controllers);
    if (isOff || one.skipReason({ provider, settings: cloud }) !== undefined) continue;
    const manager = createManager({ kube: OFFLINE, name: one.name, eventSource: one.eventSource });
    for (const part of one.parts({ manager, provider, settings: cloud })) manager.add(part);
    accounts.set(one.account, [...(accounts.get(one.account) ?? []), ...manager.needs]);
  }
  // Whatever is watched is read by the program, once for all of them.
  const watched = [...accounts.values()].flat().filter(isWatched);
  return {
    process: [...ownNeeds(settings), ...watched.map(reading)],
    accounts: new Map([...accounts].map(([name, needs]) => [name, ownOfAccount(needs)])),
  };
}

/**
 * What an account does itself. It reads from the cache of the program, except what it is about to change: a need that
 * reads and does not watch says so.
 */
export const ownOfAccount = (needs: readonly Need[]): readonly Need[] =>
  needs
    .filter((need) => !isWatched(need) || !need.verbs.every((verb) => READING.has(verb)))
    .map((need) =>
      isWatched(need) ? { ...need, verbs: need.verbs.filter((verb) => !WATCHING.has(verb)) } : need,
    );

const isWatched = ({ verbs }: Need): boolean => verbs.includes('watch');

/** What the account of the program itself must be allowed while it runs. */
export function processNeeds({ process, accounts }: InstallNeeds, settings: ProgramSettings): readonly Need[] {
  const { secure, useServiceAccountCredentials } = settings;
  return [
    ...process,
    ...(secure === undefined ? [] : ClientAuthority.needs),
    ...(useServiceAccountCredentials ? ACCOUNT_NEEDS : [...accounts.values()].flat()),
  ];
}

const reading = (need: Need): Need => ({ ...need, verbs: need.verbs.filter((verb) => READING.has(verb)) });

/** Whatever its controllers do. */
function ownNeeds({ election, secure }: ProgramSettings): readonly Need[] {
  const reviews = secure === undefined ? [] : reviewNeeds();
  if (election === false) return reviews;
  const { namespace, id } = election;
  // A process leads once: no event of its election is like one before.
  const announcing = eventNeeds({ inCoreGroup: true }).map(
    (need): Need => ({ ...need, verbs: ['create'], namespace }),
  );
  return [...electionNeeds({ namespace, name: id }), ...announcing, ...reviews];
}
