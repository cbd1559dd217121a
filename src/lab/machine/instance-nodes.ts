import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf } from '../../base/errors.ts';
import { createLog } from '../../base/log.ts';
import type { AddressPlan, LabAddress } from '../address/address-plan.ts';
import type { Boot, BootedInstance } from '../cloud/boot.ts';
import { CloudError } from '../cloud/cloud-error.ts';
import { credentialFile } from '../node/registration/credential-file.ts';
import { type NodeOptions, type RunningNode, startNode } from '../node/start-node.ts';
import { ignite } from './first-start.ts';
import { hardwareId } from './hardware-id.ts';
import { parseIgnition } from './ignition.ts';
import { type MachineSettings, machineSettings, namesCluster } from './machine-settings.ts';

/** What all nodes of a lab share. */
export type NodeSurroundings = Omit<NodeOptions, 'settings' | 'root' | 'way' | 'capacity'>;

/** A machine that is on and has a disk, of which nobody has made a node. */
export interface BareMachine {
  /** What it calls its hardware. */
  readonly id: string;
  readonly address: LabAddress;
  /** Everything that a node on it has is below. */
  readonly root: string;
}

/** Who makes nodes of machines that were told of no cluster, as an installer does. */
export interface BareMachines {
  /** The machine is on. */
  machineOn(machine: BareMachine): Promise<void>;
  /** The machine is off; it may come back. Succeeds for unknown ones. */
  machineOff(id: string): Promise<void>;
  /** The machine never comes back. Succeeds for unknown ones. */
  machineGone(id: string): Promise<void>;
}

export interface InstanceNodesOptions {
  /** 1–31: the second part of the addresses of instances. */
  readonly block: number;
  /** Of the lab: what instances have on their disks is below. */
  readonly directory: string;
  readonly surroundings: NodeSurroundings;
  /** The node is one of the cluster whose API server is at `url`, until disposed. */
  readonly join: (node: RunningNode, url: string) => Disposable;
  /** Gets the instances whose user data names no cluster; they boot nothing unless given. */
  readonly bareMachines?: BareMachines;
}

interface Machine {
  readonly instance: BootedInstance;
  /** Undefined of one that somebody else makes a node of. */
  readonly node?: RunningNode;
  /** At once, without grace. */
  readonly end: () => PromiseLike<void>;
}

const MOST_NODES = 253;
const CLIENT_CERTIFICATE = 'var/lib/kubelet/pki/kubelet-client-current.pem';

/** Makes nodes of the instances of a cloud (C14): what their user data says is written, and the node joins by itself (N1). */
export class InstanceNodes implements Boot, AsyncDisposable {
  readonly #options: InstanceNodesOptions;
  /** By instance; those that are on. */
  readonly #machines = new Map<string, Machine>();
  /** By instance; those that are on, from the moment their disk is there. */
  readonly #roots = new Map<string, string>();
  /** Last parts of addresses that are given away. */
  readonly #taken = new Set<number>();
  /** What is being switched on or off; each leaves when it is done. */
  readonly #switching = new Set<Promise<void>>();
  #isStopped = false;
  /** Disks that are being taken away, by address: the next one to have it waits. */
  readonly #removals = new Map<number, Promise<void>>();

  constructor(options: InstanceNodesOptions) {
    this.#options = options;
  }

  takeAddress(): { readonly privateAddress: string; readonly publicAddress: string } {
    const { surroundings, block } = this.#options;
    for (let node = 1; node <= MOST_NODES; node++) {
      if (this.#taken.has(node)) continue;
      this.#taken.add(node);
      const { api, wire } = surroundings.plan.node(block, node);
      return { privateAddress: api, publicAddress: wire };
    }
    throw new CloudError('InsufficientCapacity', `all ${MOST_NODES} addresses of instances are in use`);
  }

  async powerOn(
    instance: BootedInstance,
    print: (line: string) => void,
    onDisk: () => Promise<void>,
  ): Promise<void> {
    await this.powerOff(instance.id);
    if (!this.#isStopped) await this.#switched(this.#start(instance, print, onDisk));
  }

  async powerOff(instanceId: string): Promise<void> {
    const machine = this.#machines.get(instanceId);
    if (machine === undefined) return;
    this.#machines.delete(instanceId);
    this.#roots.delete(instanceId);
    await this.#switched(machine.end());
  }

  release(instanceId: string, privateAddress: string): void {
    const index = indexOf(privateAddress);
    this.#taken.delete(index);
    this.#removals.set(index, this.#wipe(index, instanceId));
  }

  rootOf(instanceId: string): string | undefined {
    return this.#roots.get(instanceId);
  }

  /** The instance whose node has this name, if it is on. */
  instanceOf(node: string): BootedInstance | undefined {
    return [...this.#machines.values()].find((machine) => machine.node?.name === node)?.instance;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isStopped = true;
    // Half a node cannot be ended: it is complete soon.
    await Promise.allSettled(this.#switching);
    await Promise.all([...this.#machines.keys()].map((id) => this.powerOff(id)));
    await Promise.all(this.#removals.values());
  }

  async #switched(work: PromiseLike<void>): Promise<void> {
    const switching = Promise.resolve(work).finally(() => this.#switching.delete(switching));
    this.#switching.add(switching);
    await switching;
  }

  /** Never rejects: a person finds on the console what went wrong. */
  async #start(
    instance: BootedInstance,
    print: (line: string) => void,
    onDisk: () => Promise<void>,
  ): Promise<void> {
    try {
      const machine = await this.#boot(instance, print, onDisk);
      this.#machines.set(instance.id, machine);
      const { node } = machine;
      node?.ready.then(
        () => print(`node ${node.name} is in its cluster`),
        (error: unknown) => print(`node ${node.name} does not get into its cluster: ${messageOf(error)}`),
      );
    } catch (error) {
      this.#roots.delete(instance.id);
      print(messageOf(error));
    }
  }

  /** What cannot be removed goes with the lab. */
  async #wipe(index: number, instanceId: string): Promise<void> {
    const { clock, log } = this.#options.surroundings;
    try {
      // Time may have to pass for it.
      await this.#options.bareMachines?.machineGone(hardwareId(instanceId));
      using _hold = clock.hold(`disk of instance ${instanceId}`);
      await rm(this.#root(index), { recursive: true, force: true });
    } catch (err) {
      log.warn({ err, instance: instanceId }, 'Cannot remove the disk of an instance');
    }
    this.#removals.delete(index);
  }

  async #boot(
    instance: BootedInstance,
    print: (line: string) => void,
    onDisk: () => Promise<void>,
  ): Promise<Machine> {
    const { clock } = this.#options.surroundings;
    const index = indexOf(instance.privateAddress);
    const root = this.#root(index);
    const ignition = parseIgnition(instance.userData);
    const { bareMachines } = this.#options;
    const isBare = bareMachines !== undefined && !namesCluster(ignition);
    const settings = isBare ? undefined : machineSettings(ignition, instance);
    {
      using _hold = clock.hold(`first start of instance ${instance.id}`);
      await this.#removals.get(index);
      await ignite(root, instance.id, ignition);
      this.#roots.set(instance.id, root);
      await onDisk();
    }
    this.#taken.add(index);
    if (settings !== undefined) return await this.#join(instance, settings, print);
    print('user data names no cluster: the machine waits for somebody to install one on it');
    const id = hardwareId(instance.id);
    await bareMachines?.machineOn({ id, address: this.#address(index), root });
    return { instance, end: async () => bareMachines?.machineOff(id) };
  }

  async #join(
    instance: BootedInstance,
    { node: settings, way }: MachineSettings,
    print: (line: string) => void,
  ): Promise<Machine> {
    const { surroundings, join: joinCluster } = this.#options;
    const { plan, clock } = surroundings;
    const index = indexOf(instance.privateAddress);
    const root = this.#root(index);
    print(`node ${settings.name} joins ${way.url}`);
    const node = await startNode({
      ...surroundings,
      log: createLog({ level: 'info', write: (line) => print(line.trimEnd()), now: () => clock.now() }),
      settings: { ...settings, address: this.#address(index) },
      root,
      way: { ...way, url: wireUrl(plan, way.url), store: credentialFile(join(root, CLIENT_CERTIFICATE)) },
    });
    const membership = joinCluster(node, way.url);
    const end = () => {
      membership[Symbol.dispose]();
      node.pods.powerOff();
      return node[Symbol.asyncDispose]();
    };
    return { instance, node, end };
  }

  #address(index: number): LabAddress {
    const { surroundings, block } = this.#options;
    return surroundings.plan.node(block, index);
  }

  /** Short: the paths of sockets are limited (N34). */
  #root(index: number): string {
    return join(this.#options.directory, 'i', String(index));
  }
}

const indexOf = (address: string): number => Number(address.split('.')[3]);

/** Nodes dial addresses of the lab where they are on this machine. */
function wireUrl(plan: Pick<AddressPlan, 'target'>, text: string): string {
  const url = new URL(text);
  const { host, port } = plan.target({ host: url.hostname, port: Number(url.port || 443) });
  return `${url.protocol}//${host}:${port}`;
}
