import { isIPv4 } from 'node:net';
import { messageOf } from '../../../base/errors.ts';
import { type JsonObject, jsonEqual } from '../../../object/json.ts';
import type { AddressPlan, AddressPool, LabAddress } from '../../address/address-plan.ts';
import { CloudError, invalidArgument } from '../cloud-error.ts';
import { INSTANCES } from '../instances/instance-fields.ts';
import { defineKind } from '../resources/kind-definition.ts';
import type { CloudReader, KindFactory, Transaction, Transition } from '../resources/resource-kind.ts';
import type { KindName, ResourceRecord, StateReason } from '../resources/resource-record.ts';
import type { BalancerConfig } from './balancer-config.ts';
import type { BalancerSurroundings } from './balancer-surroundings.ts';
import {
  type BalancerSettings,
  changeableShape,
  requireDistinctPorts,
  requireDistinctTargets,
  schemeSchema,
  targetName,
} from './load-balancer-schema.ts';
import { type Balancers, RunningBalancers } from './start-balancers.ts';

export interface LoadBalancerFields extends BalancerSettings {
  readonly scheme: 'public' | 'internal';
  /** What can be dialled on this machine; there as soon as it is active (X2). */
  readonly address?: string | undefined;
  /** The same as the API of a cluster shows it. */
  readonly apiAddress?: string | undefined;
}

type LoadBalancer = ResourceRecord<LoadBalancerFields>;

const LOAD_BALANCERS: KindName<LoadBalancerFields> = { plural: 'load-balancers' };

export interface LoadBalancerParts {
  readonly network: BalancerSurroundings['network'] & Pick<AddressPlan, 'owns'>;
  /** Lab time must not jump until it is disposed (T3). */
  readonly hold: (reason: string) => Disposable;
}

/** Load balancers of the cloud: real ones (C15–C18). */
export const loadBalancers =
  ({ network, hold }: LoadBalancerParts): KindFactory =>
  ({ clock, real, log, state, addresses, transact }) => {
    const addressOf = (target: string) => addressOfTarget(target, state);
    const balancers = new RunningBalancers({ network, addressOf, clock, real, hold, log });
    const failed = (id: string, cause: unknown) =>
      transact((transaction) => {
        const record = transaction.get(LOAD_BALANCERS, id);
        // What is on its way somewhere is tried at the end of it, and says then how it went.
        if (record?.state !== 'active') return;
        transaction.change(record, { state: 'error', stateReason: reasonOf(cause) });
      }).catch((err: unknown) =>
        log.error({ err, object: id }, 'Could not note that a load balancer does not listen'),
      );
    const places = new Places(balancers, addresses.balancers, (id, cause) => void failed(id, cause));
    const requireGood = ({ listeners, targets }: BalancerSettings, transaction: Transaction) => {
      requireDistinctPorts(listeners);
      requireDistinctTargets(targets);
      for (const [at, { instanceId, address }] of targets.entries()) {
        if (instanceId !== undefined) transaction.demand(INSTANCES, instanceId, `targets.${at}.instanceId`);
        if (address !== undefined && !network.owns(address)) throw foreignTarget(at, address);
      }
    };
    return defineKind(LOAD_BALANCERS, {
      singular: 'load balancer',
      idPrefix: 'lb',
      states: ['provisioning', 'active', 'updating', 'deleting', 'error'],
      name: { isUnique: true },
      quotas: { 'load-balancers': 10 },
      deletion: { during: ['deleting'] },
      input: { ...changeableShape, scheme: schemeSchema },
      changes: changeableShape,
      create: ({ input }, transaction) => {
        requireGood(input, transaction);
        return { state: 'provisioning', fields: input };
      },
      update: (record, wanted, transaction) => {
        if (isSame(record, wanted)) return {};
        requireChangeable(record);
        requireGood(wanted, transaction);
        return { state: 'updating', fields: wanted };
      },
      remove: () => ({ state: 'deleting' }),
      transitions: transitionsOf(places),
      view: ({ id }) => ({ targetHealth: healthOf(balancers, id) }),
      changed: (now, before) => places.follow(now, before),
      dispose: () => balancers[Symbol.asyncDispose](),
    });
  };

const transitionsOf = (places: Places): Readonly<Record<string, Transition<LoadBalancerFields>>> => ({
  provisioning: { durationMs: 3000, work: (record) => places.open(record), finish: () => ({ state: 'active' }) },
  updating: { durationMs: 1000, work: (record) => places.open(record), finish: () => ({ state: 'active' }) },
  // Whoever has an address is known to clients: it is tried again until it listens there, or is deleted.
  error: {
    durationMs: 10_000,
    applies: ({ fields }) => fields.address !== undefined,
    finish: ({ stateReason }) => ({ state: 'updating', ...(stateReason !== undefined && { stateReason }) }),
  },
  deleting: { durationMs: 2000, finish: () => 'gone' },
});

/** Where balancers listen, and that they do. */
class Places {
  readonly #balancers: Balancers;
  readonly #pool: AddressPool;
  readonly #onDeaf: (id: string, cause: unknown) => void;
  /** By balancer; each goes with it. */
  readonly #addresses = new Map<string, LabAddress>();

  /** `onDeaf`: one that should listen since an earlier life of the cloud cannot. */
  constructor(balancers: Balancers, pool: AddressPool, onDeaf: (id: string, cause: unknown) => void) {
    this.#balancers = balancers;
    this.#pool = pool;
    this.#onDeaf = onDeaf;
  }

  /** Makes it do as it says; a new one gets an address. Refuses when it cannot listen there, and then nothing has changed. */
  async open(record: LoadBalancer): Promise<Partial<LoadBalancerFields>> {
    const { address: wire, apiAddress: api } = record.fields;
    const known = this.#addresses.get(record.id) ?? (wire && api ? { api, wire } : undefined);
    const place = known ?? this.#take();
    try {
      await this.#balancers.apply(record.id, configOf(record.fields, place.api));
    } catch (cause) {
      if (known === undefined) this.#pool.release(place.api);
      throw new CloudError('Unavailable', `${record.id} cannot listen: ${messageOf(cause)}`, { cause });
    }
    this.#addresses.set(record.id, place);
    return { address: place.wire, apiAddress: place.api };
  }

  /** What is not the work of a transition: those of an earlier life of the cloud, and those that go. */
  async follow(now: LoadBalancer | undefined, before: LoadBalancer | undefined): Promise<void> {
    const { id, fields } = now ?? before ?? {};
    if (id === undefined || fields === undefined) return;
    if (now === undefined || now.state === 'deleting') await this.#balancers.remove(id);
    if (now === undefined) return this.#release(id);
    if (before !== undefined || fields.address === undefined || fields.apiAddress === undefined) return;
    this.#pool.keep(fields.apiAddress);
    this.#addresses.set(id, { api: fields.apiAddress, wire: fields.address });
    if (now.state !== 'deleting') await this.open(now).catch((error: unknown) => this.#onDeaf(id, error));
  }

  #take(): LabAddress {
    try {
      return this.#pool.take();
    } catch (cause) {
      throw new CloudError('InsufficientCapacity', messageOf(cause), { cause });
    }
  }

  #release(id: string): void {
    const place = this.#addresses.get(id);
    this.#addresses.delete(id);
    if (place !== undefined) this.#pool.release(place.api);
  }
}

const configOf = (fields: LoadBalancerFields, address: string): BalancerConfig => ({
  ...fields,
  address,
  targets: fields.targets.map(targetName),
});

/** An address is one by itself; an instance has one as long as it is there. */
function addressOfTarget(target: string, state: CloudReader): string | undefined {
  if (isIPv4(target)) return target;
  const instance = state.get(INSTANCES, target);
  const isGone = instance?.state === 'terminated' || instance?.state === 'shutting-down';
  return isGone ? undefined : instance?.fields.privateAddress;
}

const healthOf = (balancers: Balancers, id: string): JsonObject[] =>
  (balancers.status(id)?.targets ?? []).map(({ target, port, isHealthy, problem }) => ({
    target,
    port,
    healthy: isHealthy,
    ...(problem !== undefined && { reason: problem }),
  }));

/** Only names and tags are new: nothing has to be done. */
function isSame({ fields }: LoadBalancer, wanted: BalancerSettings): boolean {
  const { address: _address, apiAddress: _api, scheme: _scheme, ...settings } = fields;
  return jsonEqual(plain(settings), plain(wanted));
}

/** As it is kept: what is undefined is not there. */
const plain = (settings: BalancerSettings): JsonObject => JSON.parse(JSON.stringify(settings)) as JsonObject;

/** One that has an address may be in error because of its settings: others may mend it. */
function requireChangeable({ id, state, transition, fields }: LoadBalancer): void {
  if (state === 'active' || (state === 'error' && fields.address !== undefined)) return;
  const isRetryable = transition !== undefined;
  const way = isRetryable ? 'try again' : 'delete it and create it anew';
  throw new CloudError('IncorrectState', `load balancer ${id} is ${state}: ${way}`, { isRetryable });
}

const reasonOf = (cause: unknown): StateReason => ({
  code: cause instanceof CloudError ? cause.code : 'Internal',
  message: messageOf(cause),
});

const foreignTarget = (at: number, address: string): CloudError =>
  invalidArgument(`targets.${at}.address`, `targets.${at}.address: ${address} is not an address of this lab`);
