import type { Call, Pending } from '../../sdk/capabilities/call.ts';
import type {
  BalancerIngress,
  BalancerOutcome,
  BalancerPlan,
  BalancerRef,
  LoadBalancers,
} from '../../sdk/capabilities/load-balancers.ts';
import { ProviderError } from '../../sdk/provider/provider-error.ts';
import { type BalancerBody, balancerBody, balancerChange, orderKey, targetsOf } from './balancer-body.ts';
import type { LabClient } from './lab-client.ts';
import { isCode, isGone, type LabError } from './lab-errors.ts';
import { balancerSchema, type LabBalancer } from './lab-objects.ts';

type LabCall = Call<LabClient>;

const KIND = 'load-balancers';
/** States of the lab last one to three seconds. */
const POLL_MS = 1000;
/** Each try stands for one that was deleted within a day. */
const MOST_ORDERS = 20;

/** Load balancers of the lab cloud: real ones (lab/C15–C18), known by their unique names. */
export const loadBalancers: LoadBalancers<LabCall> = {
  declare: () => ({
    protocols: ['TCP'],
    healthChecks: ['tcp', 'http'],
    sourceRanges: true,
    preservesClientAddress: false,
    sessionAffinity: false,
    scopes: ['public', 'internal'],
    maxPorts: 50,
    hairpin: true,
  }),

  async find(ref, call) {
    const listed = await settled(ref, call);
    if (listed === undefined) return undefined;
    // Lists may show what has gone, and not yet show where it listens.
    const found = await call.client.truth(KIND, listed.id, balancerSchema, call.signal);
    return found === undefined ? undefined : ingressOf(found);
  },

  async ensure(plan, call) {
    const body = balancerBody(plan);
    const known = (await located(plan, call)).balancer ?? (await ordered(plan, body, call));
    if (!call.client.isOurs(known)) throw foreign(known);
    return await adjusted(known, plan, body, call);
  },

  async setBackends(ref, backends, call) {
    const { client, signal } = call;
    const found = await settled(ref, call);
    if (found === undefined || found.state === 'deleting') return 'gone';
    try {
      const body = { targets: targetsOf(backends) };
      await client.change({ kind: KIND, id: found.id, body }, balancerSchema, signal);
      return 'updated';
    } catch (error) {
      if (isGone(error)) return 'gone';
      throw error;
    }
  },

  async remove(ref, call) {
    const { client, signal } = call;
    const found = await settled(ref, call);
    if (found === undefined || !(await client.delete(KIND, found.id, signal))) return;
    const message = `load balancer ${found.id} is being deleted`;
    throw new ProviderError('in-use', message, { retryAfterMs: POLL_MS });
  },
};

interface Located {
  readonly balancer: LabBalancer | undefined;
  /** "None" is the truth, and not only what a list says. */
  readonly isCertain: boolean;
}

async function located({ name }: BalancerRef, { client, signal }: LabCall): Promise<Located> {
  const { freshBalancers } = client;
  const [listed] = await client.list(KIND, { name }, balancerSchema, signal);
  if (listed !== undefined) return { balancer: listed, isCertain: true };
  const id = freshBalancers.idOf(name);
  if (id === undefined) return { balancer: undefined, isCertain: false };
  const balancer = await client.truth(KIND, id, balancerSchema, signal);
  if (balancer === undefined) freshBalancers.forget(name);
  return { balancer, isCertain: true };
}

/** Ours, or undefined when there certainly is none; one of somebody else with the name is none. */
async function settled(ref: BalancerRef, call: LabCall): Promise<LabBalancer | undefined> {
  const { client } = call;
  const { balancer, isCertain } = await located(ref, call);
  if (!isCertain) client.freshBalancers.requireSettled(ref.name);
  return balancer !== undefined && client.isOurs(balancer) ? balancer : undefined;
}

/** Creates it. What an earlier order made that nobody heard of is found by its key, or by its name. */
async function ordered(plan: BalancerPlan, body: BalancerBody, call: LabCall): Promise<LabBalancer> {
  const { client, signal } = call;
  const order = { ...body, name: plan.name, scheme: plan.scope };
  let key = orderKey(plan, order);
  for (let orders = 0; orders < MOST_ORDERS; orders++) {
    const id = await orderedId(plan.name, { body: order, key }, call);
    const balancer = await client.truth(KIND, id, balancerSchema, signal);
    if (balancer !== undefined) return balancer;
    // The answer was that of an order whose balancer has been deleted since.
    key = orderKey(plan, order, id);
  }
  throw new ProviderError('conflict', `load balancer ${plan.name} is deleted again and again by somebody else`);
}

async function orderedId(
  name: string,
  order: { readonly body: object; readonly key: string },
  { client, signal }: LabCall,
): Promise<string> {
  client.freshBalancers.note(name);
  try {
    const { id } = await client.create(KIND, order, balancerSchema, signal);
    client.freshBalancers.note(name, id);
    return id;
  } catch (error) {
    if (isCode(error, 'AlreadyExists') && error.otherId !== undefined) return error.otherId;
    throw error;
  }
}

/** Makes it as the plan says. Changes act on the truth, and one that changes nothing is answered with the truth. */
async function adjusted(
  { id }: LabBalancer,
  plan: BalancerPlan,
  body: BalancerBody,
  { client, signal }: LabCall,
): Promise<BalancerOutcome> {
  let balancer: LabBalancer;
  try {
    balancer = await client.change({ kind: KIND, id, body: balancerChange(body) }, balancerSchema, signal);
  } catch (error) {
    if (isCode(error, 'IncorrectState')) return await refused(id, error, { client, signal });
    // The list was old: the next call orders a new one.
    if (isGone(error)) return pending(`load balancer ${id} has just been deleted`);
    throw error;
  }
  if (balancer.state === 'error' && balancer.address === undefined)
    return await replaced(balancer, { client, signal });
  if (balancer.scheme !== plan.scope) return await replaced(balancer, { client, signal });
  return outcomeOf(balancer);
}

/** Not as it is now: it is on its way somewhere, or has come to nothing. */
async function refused(id: string, error: LabError, call: Reach): Promise<BalancerOutcome> {
  if (error.isTemporary) return pending(error.message);
  const balancer = await call.client.truth(KIND, id, balancerSchema, call.signal);
  return balancer?.state === 'error' ? await replaced(balancer, call) : pending(error.message);
}

type Reach = Pick<LabCall, 'client' | 'signal'>;

/** What cannot be changed is made anew, after it has gone. */
async function replaced(balancer: LabBalancer, { client, signal }: Reach): Promise<Pending> {
  const { id, stateReason, scheme } = balancer;
  await client.delete(KIND, id, signal);
  const why = stateReason === undefined ? `was ${scheme}` : `failed: ${stateReason.message}`;
  return pending(`load balancer ${id} ${why}; a new one is made`);
}

function outcomeOf(balancer: LabBalancer): BalancerOutcome {
  const { id, state, stateReason } = balancer;
  if (state === 'active') return { kind: 'ready', ingress: ingressOf(balancer) };
  return pending(`load balancer ${id} is ${state}${stateReason === undefined ? '' : `: ${stateReason.message}`}`);
}

const pending = (why: string): Pending => ({ kind: 'pending', retryAfterMs: POLL_MS, why });

/** Clients see the balancer, and backends see it instead of them: nodes must not take a shorter way. */
const ingressOf = ({ address }: LabBalancer): readonly BalancerIngress[] =>
  address === undefined ? [] : [{ ip: address, ipMode: 'Proxy' }];

const foreign = ({ id, name }: LabBalancer): ProviderError =>
  new ProviderError(
    'conflict',
    `load balancer ${id} has the name ${name} and does not carry the tag of this cluster`,
  );
