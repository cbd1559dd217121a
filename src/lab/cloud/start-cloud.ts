import { join } from 'node:path';
import {
  type CloudCredential,
  type CredentialSetup,
  Credentials,
  USUAL_CREDENTIALS,
} from './access/credentials.ts';
import { type IssuedToken, Tokens } from './access/tokens.ts';
import { type CloudOptions, chosenRates, zoneNames } from './cloud-options.ts';
import type { FaultSpec, KeptFault } from './faults/fault.ts';
import { FaultTable } from './faults/fault-table.ts';
import { Journal, type JournalEntry, type JournalFilter } from './faults/journal.ts';
import { CloudApi } from './http/cloud-api.ts';
import { CloudServer } from './http/cloud-server.ts';
import { LabDesk } from './http/lab-desk.ts';
import { RateLimits } from './http/rate-limits.ts';
import { images } from './images/images.ts';
import { instanceTypes } from './instances/instance-types.ts';
import { instances } from './instances/instances.ts';
import { zones } from './instances/zones.ts';
import { floatingAddresses } from './networks/addresses.ts';
import { networks, routes, subnets } from './networks/networks.ts';
import { buckets } from './objects/buckets.ts';
import { CloudCore } from './resources/cloud-core.ts';
import { KindCatalogue } from './resources/kind-catalogue.ts';
import type { CloudReader, KindFactory } from './resources/resource-kind.ts';
import type { ShelfName } from './resources/resource-record.ts';
import { openState } from './state/state-log.ts';
import { DeviceLinks } from './volumes/device-links.ts';
import { snapshots } from './volumes/snapshots.ts';
import { VolumeImages } from './volumes/volume-images.ts';
import { volumes } from './volumes/volumes.ts';

/** A cloud that answers at its URL. Disposing it cuts everybody off; what it was told is there at the next start. */
export interface LabCloud extends AsyncDisposable {
  readonly url: string;
  /** Those that are good, with their secrets. */
  credentials(): readonly CloudCredential[];
  createCredential(setup: Pick<CredentialSetup, 'clientId' | 'scope'>): Promise<CloudCredential>;
  /** For everything that its credential may. Throws when there is none of that name. */
  issueToken(clientId: string): IssuedToken;
  /** At once: neither the secret nor a token of it is good any more. */
  revoke(clientId: string): Promise<void>;
  /** Something goes wrong from now on, until the fault is disposed. The name is made up unless given. */
  fault(spec: FaultSpec, name?: string): Disposable & { readonly name: string };
  readonly faults: readonly KeptFault[];
  /** What was really asked. */
  journal(filter?: JournalFilter): readonly JournalEntry[];
  /** What is true, whatever reads say, with what no answer shows. */
  readonly state: CloudReader;
  /** Resolves when nothing is being done; states that last may last. */
  idle(): Promise<void>;
}

const HOUR_SECONDS = 3600;
const LIVES: ShelfName<{ readonly count: number }> = { shelf: 'lives' };
const NO_HOLD: Disposable = { [Symbol.dispose]: () => undefined };

/** Starts the cloud, or goes on where an earlier life of it in the same directory has ended, however it did. */
export async function startCloud(options: CloudOptions): Promise<LabCloud> {
  await using stack = new AsyncDisposableStack();
  const { clock, real, log, seed = 1, hold = () => NO_HOLD } = options;
  const rates = new RateLimits(chosenRates(options), clock);
  const core: CloudCore = coreOf(options, stack, (name) => faults.stuckMs(name));
  const { state } = core;
  const onChange = () => core.recheckFaults();
  const faults = new FaultTable({ state, seed, note: (work) => core.note(work), onChange });
  const credentials = new Credentials(state, real);
  const lifeSeconds = options.tokenLifeSeconds ?? HOUR_SECONDS;
  const tokens = new Tokens({ state, credentials, clock, lifeSeconds });
  await core.start();
  const life = await core.transact((transaction) => {
    tokens.ensureKey(transaction, real);
    credentials.ensure(options.credentials ?? USUAL_CREDENTIALS, transaction);
    const count = (transaction.peek(LIVES, 'lives')?.count ?? 0) + 1;
    transaction.place(LIVES, 'lives', { count });
    return count;
  });
  const journal = new Journal();
  const desk = new LabDesk({ core, faults, journal, credentials });
  const api = new CloudApi({
    core,
    tokens,
    credentials,
    faults,
    journal,
    rates,
    desk,
    clock,
    real,
    log,
    hold,
    life,
  });
  const server = stack.use(new CloudServer({ serve: (message, signal) => api.serve(message, signal), real, log }));
  const { host, port } = await options.listen(server.server);
  const url = `http://${host}:${port}`;
  return new RunningCloud({ core, faults, credentials, tokens, journal, url, owned: stack.move() });
}

function coreOf(
  options: CloudOptions,
  stack: AsyncDisposableStack,
  stuckMs: (fault: string) => number | 'always' | undefined,
): CloudCore {
  const { clock, real, log, seed = 1, addresses, boot, hold = () => NO_HOLD } = options;
  const directory = join(options.directory, 'cloud');
  const kinds = new KindCatalogue(options);
  const opened = openState(directory, log);
  stack.use(opened.log);
  const images = new VolumeImages(directory);
  const imagePath = (id: string) => images.volumePath(id);
  const links: DeviceLinks = new DeviceLinks({ boot, imagePath, list: (kind) => core.state.list(kind) });
  const factories = [...ownKinds(zoneNames(options), images, links), ...(options.kinds ?? [])];
  const parts = { clock, real, log, seed, addresses, boot, hold, stuckMs };
  const core = stack.use(new CloudCore({ ...parts, directory, kinds, opened, factories }));
  return core;
}

/** In an order in which each finds what it refers to. */
const ownKinds = (
  zoneList: readonly string[],
  disks: VolumeImages,
  links: DeviceLinks,
): readonly KindFactory[] => [
  zones(zoneList),
  instanceTypes,
  networks,
  subnets,
  images,
  volumes({ images: disks, links }),
  snapshots(disks),
  floatingAddresses,
  instances({ onPowered: (id) => links.sync(id) }),
  routes,
  buckets,
];

interface CloudParts {
  readonly core: CloudCore;
  readonly faults: FaultTable;
  readonly credentials: Credentials;
  readonly tokens: Tokens;
  readonly journal: Journal;
  readonly url: string;
  readonly owned: AsyncDisposableStack;
}

class RunningCloud implements LabCloud {
  readonly url: string;
  readonly #parts: CloudParts;
  #named = 0;

  constructor(parts: CloudParts) {
    this.url = parts.url;
    this.#parts = parts;
  }

  get state(): CloudReader {
    return this.#parts.core.state;
  }

  get faults(): readonly KeptFault[] {
    return this.#parts.faults.list();
  }

  credentials(): readonly CloudCredential[] {
    return this.#parts.credentials.all();
  }

  createCredential({ clientId, scope = 'read write' }: Pick<CredentialSetup, 'clientId' | 'scope'>) {
    const { core, credentials } = this.#parts;
    return core.transact((transaction) => credentials.create(clientId, scope, transaction));
  }

  issueToken(clientId: string): IssuedToken {
    const { credentials, tokens } = this.#parts;
    const { clientSecret = '' } = credentials.all().find((known) => known.clientId === clientId) ?? {};
    return tokens.issue(clientId, clientSecret, undefined);
  }

  revoke(clientId: string): Promise<void> {
    const { core, credentials } = this.#parts;
    return core.transact((transaction) => credentials.revoke(clientId, transaction));
  }

  fault(spec: FaultSpec, name = this.#freeName()): Disposable & { readonly name: string } {
    const { faults } = this.#parts;
    faults.put(name, spec);
    return {
      name,
      [Symbol.dispose]: () => {
        if (faults.get(name) !== undefined) faults.delete(name);
      },
    };
  }

  journal(filter?: JournalFilter): readonly JournalEntry[] {
    return this.#parts.journal.list(filter);
  }

  idle(): Promise<void> {
    return this.#parts.core.idle();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#parts.owned.disposeAsync();
  }

  /** Faults of an earlier life may have names that were made up, too. */
  #freeName(): string {
    const name = `fault-${++this.#named}`;
    return this.#parts.faults.get(name) === undefined ? name : this.#freeName();
  }
}
