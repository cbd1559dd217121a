import type { CloudRoute, RouteCreation, Routes } from '../capabilities/routes.ts';
import { broken, type ContractCase, type ContractSuite } from './contract.ts';
import {
  answerText,
  bareCapabilityOf,
  callWith,
  capabilityOf,
  eventually,
  frozen,
  type ProviderSubject,
  requireAbort,
  requireReadOnly,
  requireThrown,
} from './contract-subject.ts';
import { type ConformanceOptions, registerContract } from './test-framework.ts';

/** A machine that routes may lead to. */
export interface RouteTarget {
  readonly nodeName: string;
  readonly providerID: string;
}

/** A route that nobody but the cloud knows. */
export interface ForeignRoute extends AsyncDisposable {
  readonly destinationCIDR: string;
  isThere(): Promise<boolean>;
}

/** How routes are looked at in the cloud under test. */
export interface RoutesSubject extends ProviderSubject {
  readonly target: RouteTarget;
  /** Two ranges that no route is for; `10.244.1.0/24` and `10.244.2.0/24` unless given. */
  readonly cidrs?: readonly [string, string];
  /** Makes a route that is not of this cluster. */
  makeForeign?(): Promise<ForeignRoute>;
}

type Case = ContractCase<RoutesSubject>;

const USUAL_CIDRS = ['10.244.1.0/24', '10.244.2.0/24'] as const;
const cidrsOf = ({ cidrs = USUAL_CIDRS }: RoutesSubject): readonly [string, string] => cidrs;

const queryOf = ({ provider }: RoutesSubject) => ({
  cluster: provider.clusterId ?? 'conformance',
  tags: provider.clusterTags,
});

/** A route of a case, which is removed when the case is over. */
class PlannedRoute implements AsyncDisposable {
  readonly subject: RoutesSubject;
  readonly destinationCIDR: string;

  constructor(subject: RoutesSubject, destinationCIDR: string) {
    this.subject = subject;
    this.destinationCIDR = destinationCIDR;
  }

  get route(): CloudRoute {
    return { targetNode: this.subject.target.nodeName, destinationCIDR: this.destinationCIDR };
  }

  get creation(): RouteCreation {
    const { nodeName, providerID } = this.subject.target;
    return { ...queryOf(this.subject), nameHint: nodeName, providerID };
  }

  /** Made, as far as the provider says. */
  async create(): Promise<void> {
    const capability = capabilityOf(this.subject, 'routes');
    await capability.create(structuredClone(this.route), structuredClone(this.creation), callWith());
  }

  /** Until lists show it. */
  async listed(): Promise<CloudRoute> {
    return await eventually(this.subject, `list() shows the route for ${this.destinationCIDR}`, async () => {
      const [found] = await this.all();
      return found === undefined ? { yet: 'it does not' } : { got: found };
    });
  }

  /** All that lists show for this destination. */
  async all(): Promise<readonly CloudRoute[]> {
    const known = await capabilityOf(this.subject, 'routes').list(queryOf(this.subject), callWith());
    return known.filter(({ destinationCIDR }) => destinationCIDR === this.destinationCIDR);
  }

  async remove(route: CloudRoute): Promise<void> {
    await capabilityOf(this.subject, 'routes').remove(structuredClone(route), queryOf(this.subject), callWith());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // Best effort: whoever cannot remove breaks a promise of its own. The next case finds no trace of this one.
    await this.#clear().catch(() => undefined);
  }

  async #clear(): Promise<void> {
    await eventually(this.subject, 'list() shows it no more', async () => {
      const known = await this.all();
      for (const route of known) await this.remove(route);
      return known.length === 0 ? { got: undefined } : { yet: 'it does' };
    });
  }
}

const requireGone = (planned: PlannedRoute): Promise<void> =>
  eventually(planned.subject, 'list() shows it no more after remove()', async () => {
    const left = await planned.all();
    return left.length === 0 ? { got: undefined } : { yet: `list() answered ${answerText(left)}` };
  });

const lifeCases: readonly Case[] = [
  {
    id: 'routes/created-is-listed',
    promise: 'a route that was created is listed with its node',
    async check(subject) {
      await using planned = new PlannedRoute(subject, cidrsOf(subject)[0]);
      await planned.create();
      const { targetNode } = await planned.listed();
      if (targetNode !== subject.target.nodeName)
        throw broken(`list() answered the node "${targetNode}" for a route to ${subject.target.nodeName}`);
    },
  },
  {
    id: 'routes/create-again-changes-nothing',
    promise: 'creating a route again changes nothing',
    async check(subject) {
      await using planned = new PlannedRoute(subject, cidrsOf(subject)[0]);
      await planned.create();
      await planned.listed();
      await planned.create();
      await planned.listed();
      const known = await planned.all();
      if (known.length !== 1) throw broken(`list() answered ${known.length} routes for one destination`);
    },
  },
  {
    id: 'routes/two-ranges-of-a-node',
    promise: 'two ranges of one node have a route each',
    async check(subject) {
      const [one, two] = cidrsOf(subject);
      await using first = new PlannedRoute(subject, one);
      await using second = new PlannedRoute(subject, two);
      await first.create();
      await second.create();
      await second.listed();
      await eventually(
        subject,
        `list() shows ${one} beside ${two} (ccm/T11: make names of node and destination)`,
        async () => {
          const [found] = await first.all();
          return found === undefined ? { yet: 'it shows only the second' } : { got: found };
        },
      );
    },
  },
  {
    id: 'routes/remove-removes',
    promise: 'a route that was removed is not listed',
    async check(subject) {
      await using planned = new PlannedRoute(subject, cidrsOf(subject)[0]);
      await planned.create();
      await planned.remove(await planned.listed());
      await requireGone(planned);
    },
  },
  {
    id: 'routes/remove-again-succeeds',
    promise: 'removing a route that is not there succeeds',
    async check(subject) {
      await using planned = new PlannedRoute(subject, cidrsOf(subject)[0]);
      await planned.create();
      const route = await planned.listed();
      await planned.remove(route);
      await requireGone(planned);
      await planned.remove(route);
    },
  },
  {
    id: 'routes/foreign-stays',
    promise: 'routes of others are not touched',
    needs: ['makeForeign'],
    async check(subject) {
      await using stranger = await subject.makeForeign?.();
      await using planned = new PlannedRoute(subject, cidrsOf(subject)[0]);
      await planned.create();
      await planned.remove(await planned.listed());
      await requireGone(planned);
      if ((await stranger?.isThere()) !== true)
        throw broken(`the route of somebody else for ${stranger?.destinationCIDR} is gone`);
    },
  },
];

const callCases: readonly Case[] = [
  {
    id: 'routes/trouble-is-thrown',
    promise: 'trouble of the cloud is thrown and never answered',
    needs: ['breakCloud'],
    async check(subject) {
      await using planned = new PlannedRoute(subject, cidrsOf(subject)[0]);
      await planned.create();
      const route = await planned.listed();
      await using _broken = await subject.breakCloud?.();
      await requireThrown(callsWith(planned, route), 'while the cloud was down');
    },
  },
  {
    id: 'routes/abort-is-obeyed',
    promise: 'a call ends when its signal aborts',
    async check(subject) {
      await using planned = new PlannedRoute(subject, cidrsOf(subject)[0]);
      const capability = bareCapabilityOf(subject, 'routes');
      await requireAbort(subject, callsWith(planned, { ...planned.route, name: 'nobody' }, { capability }));
    },
  },
  {
    id: 'routes/inputs-are-read-only',
    promise: 'inputs are not changed',
    async check(subject) {
      await using planned = new PlannedRoute(subject, cidrsOf(subject)[0]);
      await requireReadOnly(callsWith(planned, { ...planned.route, name: 'nobody' }, { kept: frozen }));
    },
  },
];

interface CallOptions {
  /** Makes a copy of what a method is given. */
  readonly kept?: <T>(value: T) => T;
  readonly capability?: Routes;
}

/** Every method. */
function callsWith(
  planned: PlannedRoute,
  listed: CloudRoute,
  { kept = structuredClone, capability = capabilityOf(planned.subject, 'routes') }: CallOptions = {},
): Parameters<typeof requireThrown>[0] {
  const query = () => kept(queryOf(planned.subject));
  return {
    list: (call) => capability.list(query(), call),
    create: (call) => capability.create(kept(planned.route), kept(planned.creation), call),
    remove: (call) => capability.remove(kept(listed), query(), call),
  };
}

/** What `routes` promises. */
export const routesSuite: ContractSuite<RoutesSubject> = { name: 'routes', cases: [...lifeCases, ...callCases] };

/** Registers the suite with `node:test`, or with what is given. */
export const routesConformance = (options: ConformanceOptions<RoutesSubject>): void =>
  registerContract(routesSuite, options);
