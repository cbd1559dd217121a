import { mkdir, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import type { JsonObject } from '../../api/json.ts';
import type { Notices } from '../../apiserver/admission/notices.ts';
import { startApiServer } from '../../apiserver/start.ts';
import type { ServiceResolver } from '../../apiserver/webhooks/webhook-client.ts';
import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import { loadKubeconfig } from '../../kube/config/kubeconfig.ts';
import type { Environment } from '../../kube/config/surroundings.ts';
import type { Activity } from '../../kube/quiet/activity.ts';
import { printYaml } from '../../object/yaml.ts';
import type { CertificateAuthority } from '../../pki/certificate-authority.ts';
import type { AddressPlan, LabAddress } from '../address/address-plan.ts';
import type { LabClock } from '../clock/lab-clock.ts';
import { nodeConnector } from '../node/server/node-connector.ts';
import { type ClusterWay, wayInProcess, wayToServer } from './cluster-way.ts';
import { leaseRefusal } from './lease-refusal.ts';
import type { LiveNodes } from './live-nodes.ts';
import type { WriteLog } from './write-log.ts';

/** The API server of a cluster as the lab uses it: one of its own, or one that somebody else runs. */
export interface ClusterApi extends AsyncDisposable {
  readonly url: string;
  readonly way: ClusterWay;
  /** Of an API server of the lab. */
  readonly address?: LabAddress;
  /** Of the administrator, for kubectl and other programs. */
  readonly kubeconfigPath: string;
  /** Signs what the server believes; undefined when that is not ours to know. */
  readonly authority?: CertificateAuthority;
  /** Vouches for the server itself; undefined when only the system knows who does. */
  readonly authorityPem?: string;
}

export interface OwnApiOptions {
  /** Of the cluster. */
  readonly name: string;
  readonly domain: string;
  /** Definitions to begin with. */
  readonly crds?: readonly JsonObject[];
  readonly address: LabAddress;
  readonly plan: Pick<AddressPlan, 'place'>;
  readonly serviceRange: string;
  readonly kubeconfigPath: string;
  readonly directory: string;
  readonly isDurable: boolean;
  readonly certificates: { readonly from: Date; readonly until: Date };
  readonly nodes: LiveNodes;
  readonly resolveService: ServiceResolver;
  /** The server itself gives namespaces their account, faster than anybody could; otherwise somebody else does (A4). */
  readonly hasAccounts: boolean;
  readonly notices: Notices;
  readonly clock: LabClock;
  readonly real: Clock;
  readonly log: Log;
  readonly activity: Activity;
  readonly writes: WriteLog;
}

const API_PORT = 6443;

/** Starts an API server of the lab, and writes the kubeconfig of its administrator, readable by its owner only. */
export async function startOwnApi(options: OwnApiOptions): Promise<ClusterApi> {
  const { name, domain, crds, address, directory, isDurable, nodes, clock, writes, activity, kubeconfigPath } =
    options;
  const { log, certificates, serviceRange, resolveService, plan, hasAccounts, notices } = options;
  const place = await plan.place({ host: address.api, port: API_PORT });
  const server = await startApiServer({
    ...(isDurable ? { dataDir: join(directory, 'api'), durability: 'normal' } : { storage: 'memory' }),
    listen: { ...place, hostNames: [address.wire, `api.${domain}`, `api-int.${domain}`] },
    advertise: { host: address.api, port: API_PORT },
    clock,
    real: options.real,
    log,
    certificates,
    serviceRange,
    resolveService,
    controllers: { accounts: hasAccounts },
    nodes: nodeConnector((node) => nodes.byName.get(node)),
    hold: (reason) => clock.hold(reason),
    audit: (served) => writes.record(name, served),
    ...(clock.mode === 'auto' && { refuse: leaseRefusal }),
    program: 'a lab',
    notices,
    ...(crds !== undefined && { crds }),
  });
  await mkdir(dirname(kubeconfigPath), { recursive: true });
  await writeFile(kubeconfigPath, printYaml(await server.kubeconfig()), { mode: 0o600 });
  return {
    url: server.url,
    address,
    way: wayInProcess(server, activity),
    kubeconfigPath,
    authority: server.authority,
    authorityPem: server.authority.certificatePem,
    [Symbol.asyncDispose]: () => server.stop(),
  };
}

export interface ForeignApiOptions {
  /** File of an administrator: the lab acts as the users of its parts with it. */
  readonly kubeconfigPath: string;
  /** Of this process: credential plugins get it. */
  readonly env: Environment;
  readonly activity: Activity;
  readonly real: Clock;
  readonly log: Log;
}

/** The way to an API server that runs already. Nothing is asked of it yet. */
export async function foreignApi(options: ForeignApiOptions): Promise<ClusterApi> {
  const { kubeconfigPath, env, activity, real, log } = options;
  const access = await loadKubeconfig({ env, homeDir: homedir(), kubeconfigFlag: kubeconfigPath, clock: real });
  const way = wayToServer({ access, activity, clock: real, log });
  const url = access.server.href.replace(/\/$/, '');
  const authorityPem = await access.ca?.();
  return {
    url,
    way,
    kubeconfigPath,
    ...(authorityPem !== undefined && { authorityPem }),
    [Symbol.asyncDispose]: () => way[Symbol.asyncDispose](),
  };
}
