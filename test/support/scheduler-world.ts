import { Node, Pod } from '../../src/api/generated/core-v1.ts';
import { Event } from '../../src/api/generated/events-v1.ts';
import { schedulerController } from '../../src/lab/workloads/scheduler/controller.ts';
import { TestEnv, type TestEnvOptions } from '../../src/testing/test-env.ts';
import { addNode, addPod, type NodeSketch, type PodSketch } from './pretend-cluster.ts';

/** An API server with nodes and a scheduler, and what tests ask of it. */
export class SchedulerWorld implements AsyncDisposable {
  readonly env: TestEnv;

  private constructor(env: TestEnv) {
    this.env = env;
  }

  static async start(nodes: readonly NodeSketch[] = [{}], options: TestEnvOptions = {}): Promise<SchedulerWorld> {
    const world = await SchedulerWorld.prepare(nodes, options);
    await world.run();
    return world;
  }

  /** Without the scheduler, which then finds everything at once. */
  static async prepare(
    nodes: readonly NodeSketch[] = [{}],
    options: TestEnvOptions = {},
  ): Promise<SchedulerWorld> {
    const env = await TestEnv.start(options);
    for (const node of nodes) await addNode(env.client, node);
    return new SchedulerWorld(env);
  }

  async run(): Promise<void> {
    await this.env.startManager({ add: [schedulerController()] });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.env[Symbol.asyncDispose]();
  }

  get client() {
    return this.env.client;
  }

  /** Makes pods, and lets the scheduler do what it can at once. */
  async create(...pods: readonly PodSketch[]): Promise<void> {
    for (const pod of pods) await addPod(this.client, pod);
    await this.env.settle();
  }

  pod(name = 'p'): Promise<Pod> {
    return this.client.get(Pod, { namespace: 'default', name });
  }

  /** Undefined for pods without one. */
  async nodesOf(...names: readonly string[]): Promise<readonly (string | undefined)[]> {
    const nodes: (string | undefined)[] = [];
    for (const name of names) nodes.push((await this.pod(name)).spec.nodeName);
    return nodes;
  }

  async nodeOf(name = 'p'): Promise<string | undefined> {
    return (await this.nodesOf(name))[0];
  }

  async condition(name = 'p') {
    const { status } = await this.pod(name);
    return status?.conditions?.find(({ type }) => type === 'PodScheduled');
  }

  /** Why the pod has no node. */
  async message(name = 'p'): Promise<string> {
    return (await this.condition(name))?.message ?? '';
  }

  async events() {
    const { items } = await this.client.live.list(Event);
    return items.map(({ type, reason, note, action, regarding }) => ({
      type,
      reason,
      note,
      action,
      about: regarding?.name,
    }));
  }

  async patchNode(name: string, spec: Readonly<Record<string, never>> | object): Promise<void> {
    await this.client.patch(Node, { name }, { type: 'merge', body: { spec: spec as never } });
  }

  async report(name: string, allocatable: Readonly<Record<string, string>>): Promise<void> {
    const body = { status: { allocatable: { ...allocatable } } };
    await this.client.patch(Node, { name }, { type: 'merge', body }, { subresource: 'status' });
  }

  async patchPod(
    body: object,
    options: { readonly name?: string; readonly subresource?: 'status' } = {},
  ): Promise<void> {
    const { name = 'p', ...rest } = options;
    await this.client.patch(Pod, { namespace: 'default', name }, { type: 'merge', body: body as never }, rest);
  }

  /** What managers asked the server to do, without what goes along with it: `POST pods/p/binding`. */
  get writes(): readonly string[] {
    return this.env.recorder.writes
      .map(
        ({ method, target }) => `${method} ${target.replace(/\?.*/, '').replace(/^.*\/namespaces\/[^/]+\//, '')}`,
      )
      .filter((line) => !line.endsWith(' events'));
  }
}
