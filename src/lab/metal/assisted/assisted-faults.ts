import type { ObjectKey } from '../../../api/object.ts';
import { Channel, type ChannelSource } from '../../../kube/controller/channel.ts';
import type { Stage } from './stages.ts';

/** What goes wrong with a host while it is installed. */
export interface AgentFault {
  readonly kind: 'error' | 'pending-user-action' | 'cancelled';
  /** In `stateInfo`. */
  readonly message: string;
  /** Not before this stage; at any unless told otherwise. */
  readonly at?: Stage;
}

/** What goes wrong with an installation. */
export interface InstallFault {
  readonly kind: 'error' | 'cancelled';
  readonly message: string;
}

export type RestFault = { readonly status: number } | 'timeout';

/** Accidents on request (8.6 F). Everything holds until it is taken back. */
export class AssistedFaults {
  readonly #agentNews = new Channel();
  readonly #installNews = new Channel();
  readonly #infraEnvNews = new Channel();
  /** Bounded by the tests that set them. */
  readonly #agents = new Map<string, AgentFault>();
  readonly #installs = new Map<string, InstallFault>();
  readonly #late = new Set<string>();
  readonly #doubled = new Set<string>();
  #rest: RestFault | undefined;

  /** Every request to the REST endpoint is answered so, or never. */
  failRest(fault: RestFault | undefined): void {
    this.#rest = fault;
  }

  get rest(): RestFault | undefined {
    return this.#rest;
  }

  /** By the name of the Agent, which is the id of the host. */
  failAgent(key: ObjectKey, fault: AgentFault | undefined): void {
    put(this.#agents, textOf(key), fault);
    this.#agentNews.send(key);
  }

  agent(key: ObjectKey): AgentFault | undefined {
    return this.#agents.get(textOf(key));
  }

  /** By the key of the AgentClusterInstall. */
  failInstall(key: ObjectKey, fault: InstallFault | undefined): void {
    put(this.#installs, textOf(key), fault);
    this.#installNews.send(key);
  }

  install(key: ObjectKey): InstallFault | undefined {
    return this.#installs.get(textOf(key));
  }

  /** The InfraEnv has neither an events URL nor an image until this is taken back. */
  delayEventsUrl(key: ObjectKey, isLate: boolean): void {
    if (isLate) this.#late.add(textOf(key));
    else this.#late.delete(textOf(key));
    this.#infraEnvNews.send(key);
  }

  isEventsUrlLate(key: ObjectKey): boolean {
    return this.#late.has(textOf(key));
  }

  /** Hosts of this InfraEnv register twice, under two ids, from now on. */
  doubleAgents(key: ObjectKey, isDoubled: boolean): void {
    if (isDoubled) this.#doubled.add(textOf(key));
    else this.#doubled.delete(textOf(key));
  }

  areAgentsDoubled(key: ObjectKey): boolean {
    return this.#doubled.has(textOf(key));
  }

  /** What the controllers listen to: a fault changes something at once. */
  get changes(): {
    readonly agents: ChannelSource;
    readonly installs: ChannelSource;
    readonly infraEnvs: ChannelSource;
  } {
    return { agents: this.#agentNews, installs: this.#installNews, infraEnvs: this.#infraEnvNews };
  }
}

const textOf = ({ namespace = '', name }: ObjectKey): string => `${namespace}/${name}`;

function put<T>(map: Map<string, T>, key: string, value: T | undefined): void {
  if (value === undefined) map.delete(key);
  else map.set(key, value);
}
