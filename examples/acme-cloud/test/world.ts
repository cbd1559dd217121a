// A cloud on this machine for the contract suites. With a cloud of your own, make the same calls there.
import { type Backend, connectProvider, type InstanceRef, type ProviderSubject } from 'slipway/sdk';
import { type Lab, SILENT_LOG, SystemClock, startLab } from 'slipway/testing';
import provider from '../provider.ts';
import { instanceIDOf, providerIDOf } from '../src/provider-id.ts';

const CLUSTER = 'test';
const ZONE = 'a';

interface Machine {
  readonly id: string;
  readonly name: string;
  readonly privateAddress: string;
}

/** The cloud of a lab, the provider connected to it, and what the suites need to move things there. */
export async function startWorld() {
  // Everything in this cloud takes its time, which passes twenty times as fast here.
  const lab = await startLab({ clusters: [], cloud: { quotas: { 'load-balancers': 3 } }, clock: { scaled: 20 } });
  const ask = cloudUser(lab);
  const connected = await connectProvider(provider, { context: contextOf(lab), callTimeoutMs: 60_000 });
  const subject: ProviderSubject = {
    provider: connected,
    wait: (ms) => lab.clock.sleep(ms),
    settleMs: 60_000,
    breakCloud: async () => lab.cloud.fault({ match: {}, effect: { status: 503 } }),
    silenceCloud: async () => lab.cloud.fault({ match: {}, effect: { hang: true } }),
    [Symbol.asyncDispose]: async () => {
      await connected[Symbol.asyncDispose]();
      await lab[Symbol.asyncDispose]();
    },
  };
  let made = 0;
  const machine = async (): Promise<Machine> => {
    const body = { name: `node-${++made}`, type: 'lab.small', zone: ZONE, tags: connected.clusterTags };
    return ask<Machine>('POST', '/v1/instances', body);
  };
  return { lab, ask, subject, machine };
}

/** A Node that has just been registered. */
export function nodeOf({ id, name }: Machine): InstanceRef {
  const metadata = { name, creationTimestamp: new Date().toISOString() };
  const providerID = providerIDOf({ zone: ZONE, id });
  return { nodeName: name, providerID, node: { apiVersion: 'v1', kind: 'Node', metadata, spec: {} } };
}

export function backendOf(machine: Machine): Backend {
  const { nodeName, providerID = '' } = nodeOf(machine);
  return { nodeName, providerID, addresses: [{ type: 'InternalIP', address: machine.privateAddress }] };
}

/** Of the machine behind a node. */
export const idOf = ({ providerID = '' }: InstanceRef): string => instanceIDOf(providerID) ?? '';

function contextOf({ cloud, clock }: Lab) {
  const [user] = cloud.credentials();
  const config = JSON.stringify({ endpoint: cloud.url, region: 'lab', clusterId: CLUSTER });
  const secret = (name: string) => (name.endsWith('_ID') ? user?.clientId : user?.clientSecret);
  return { config, secret, clock, log: SILENT_LOG, signal: new AbortController().signal };
}

/** Requests to the cloud past the provider. */
function cloudUser({ cloud }: Lab) {
  const [user] = cloud.credentials();
  const { token } = cloud.issueToken(user?.clientId ?? '');
  return async <Answer>(method: string, path: string, body?: object): Promise<Answer> => {
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` };
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    const response = await fetch(`${cloud.url}${path}`, { method, headers, ...sent });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return (text === '' ? undefined : JSON.parse(text)) as Answer;
  };
}
