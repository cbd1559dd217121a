import { agent } from '../src/agent/index.ts';
import { APISERVER_SETTINGS } from '../src/app/verbs/apiserver.ts';
import { OPERATOR_PORTS } from '../src/cloud-operator/manifests/operator-deployment.ts';
import { runtimeFlags } from '../src/kube/manager/runtime-flags.ts';
import { table } from './docs-markdown.ts';

/** A port that a program of ours opens. */
export interface PortRow {
  readonly what: string;
  /** Flag that says where. */
  readonly flag: string;
  readonly standard: string;
  readonly encryption: string;
  readonly caller: string;
  /** The source file that starts the listener. */
  readonly openedBy: string;
}

const runtimeDefault = (name: string): string => runtimeFlags.find((flag) => flag.name === name)?.default ?? '';

const agentDefault = (name: string): string =>
  shownDefault(agent.flags.find((flag) => flag.name === name)?.default ?? '');

const { replace, sidecar } = OPERATOR_PORTS;

/** Every port; a test finds files that listen and are not named here, and names that do not listen. */
export const PORTS: readonly PortRow[] = [
  {
    what: 'embedded API server',
    flag: '--port',
    standard: `127.0.0.1:${APISERVER_SETTINGS.port.default}`,
    encryption: 'TLS 1.2 or later, certificate of its own authority',
    caller: 'client certificate or token, then RBAC; `/livez`, `/readyz`, `/healthz` and `/version` for anybody',
    openedBy: 'src/apiserver/start.ts',
  },
  {
    what: 'health probes of a program with controllers',
    flag: '--health-probe-bind-address',
    standard: shownDefault(runtimeDefault('health-probe-bind-address')),
    encryption: 'none: a kubelet asks without credentials, and the answer holds names of checks only',
    caller: 'anybody',
    openedBy: 'src/kube/manager/servers.ts',
  },
  {
    what: 'metrics of a program with controllers',
    flag: '--metrics-bind-address',
    standard: shownDefault(runtimeDefault('metrics-bind-address')),
    encryption: 'none; with `--metrics-secure` TLS 1.2 or later',
    caller: 'anybody; with `--metrics-secure` who may `get` the path `/metrics`, asked by TokenReview and RBAC',
    openedBy: 'src/kube/manager/servers.ts',
  },
  {
    what: 'webhooks of a program with controllers',
    flag: '--webhook-port',
    standard: shownDefault(runtimeDefault('webhook-port')),
    encryption: 'TLS 1.2 or later',
    caller: 'anybody who reaches the port, or clients of one authority with `webhook.clientCA`',
    openedBy: 'src/kube/webhook/webhook-server.ts',
  },
  {
    what: 'cloud controller manager',
    flag: '--secure-port',
    standard: '0.0.0.0:10258',
    encryption: 'TLS 1.2 or later, a certificate of its own unless given one',
    caller:
      'who may `get` the path, asked by TokenReview and RBAC, or a client certificate of the cluster; `/healthz`, `/livez` and `/readyz` for anybody',
    openedBy: 'src/cloud/program/secure-server.ts',
  },
  {
    what: 'metrics of the cloud operator',
    flag: '--metrics-bind-address',
    standard: `0.0.0.0:${replace.metrics}; beside the operator of the release 0.0.0.0:${sidecar.metrics}`,
    encryption: 'TLS as the profile of the cluster has it, a certificate of its own unless given one',
    caller: 'who may `get` the path `/metrics`, asked by TokenReview and RBAC',
    openedBy: 'src/cloud-operator/program/metrics-server.ts',
  },
  {
    what: 'health probes of the cloud operator and of `cloud-config-sync`',
    flag: '--health-addr',
    standard: `\`:9440\`; as rendered 127.0.0.1:${replace.operatorHealth} and :${replace.configSyncHealth}, beside the operator of the release :${sidecar.operatorHealth} and :${sidecar.configSyncHealth}`,
    encryption: 'none: the answer holds names of checks only',
    caller: 'anybody on the host, whose network the pod has',
    openedBy: 'src/kube/manager/servers.ts',
  },
  {
    what: 'probes, metrics and webhooks of the Agent providers',
    flag: '--health-probe-bind-address, --metrics-bind-address, --webhook-port',
    standard: `${['health-probe-bind-address', 'metrics-bind-address', 'webhook-port'].map(agentDefault).join(', ')}`,
    encryption:
      'none for probes; for metrics with `--metrics-secure`; always for webhooks, as the profile of the cluster has it',
    caller: 'as for any program with controllers',
    openedBy: 'src/kube/manager/servers.ts',
  },
  {
    what: 'cloud of a lab',
    flag: '',
    standard: '127.L.0.2:8080',
    encryption: 'none: it never leaves this machine',
    caller: 'a token, got with a credential of the lab',
    openedBy: 'src/lab/cloud/http/cloud-server.ts',
  },
  {
    what: 'name server of a lab, UDP and TCP',
    flag: '',
    standard: '127.L.0.53:5353, and 53 where it may',
    encryption: 'none',
    caller: 'anybody on this machine',
    openedBy: 'src/lab/cloud/dns/start-dns.ts',
  },
  {
    what: 'metadata of instances of a lab',
    flag: '',
    standard: '127.L.0.169:80',
    encryption: 'none, as in clouds',
    caller: 'nodes and pods, told apart by their address; a session token first',
    openedBy: 'src/lab/cloud/metadata/start-metadata.ts',
  },
  {
    what: 'load balancers of a lab',
    flag: '',
    standard: '127.L.128.1 and on, ports of the listeners',
    encryption: 'what the backend has',
    caller: 'source ranges of the balancer',
    openedBy: 'src/lab/cloud/load-balancers/balancer.ts',
  },
  {
    what: 'services of a lab: cluster addresses and node ports',
    flag: '',
    standard: '127.L.96.1 and on; addresses of nodes',
    encryption: 'what the backend has',
    caller: 'anybody on this machine',
    openedBy: 'src/lab/proxy/tcp-frontend.ts',
  },
  {
    what: 'health of a service on a node of a lab',
    flag: '',
    standard: 'health-check node port on addresses of nodes',
    encryption: 'none: the answer holds counts only',
    caller: 'anybody on this machine',
    openedBy: 'src/lab/proxy/health-frontend.ts',
  },
  {
    what: 'node of a lab whose API server runs elsewhere',
    flag: '',
    standard: '127.L.k.n:10250',
    encryption: 'TLS 1.2 or later, certificate of the cluster',
    caller: 'client certificate of the API server or of an administrator',
    openedBy: 'src/lab/node/server/start-own-server.ts',
  },
  {
    what: 'assisted-service of a lab with machines',
    flag: '',
    standard: '127.0.0.1, any free port',
    encryption: 'none: it never leaves this machine',
    caller: 'the key in the address that its InfraEnv has',
    openedBy: 'src/lab/metal/assisted/rest-server.ts',
  },
  {
    what: 'registry of a lab with machines',
    flag: '',
    standard: '127.0.0.1, any free port',
    encryption: 'none: it never leaves this machine',
    caller: 'anybody on this machine, read only',
    openedBy: 'src/lab/metal/assisted/rest-server.ts',
  },
];

/** Files that call what listens on behalf of those above, or only try whether a port is free. */
export const NO_PORT_OF_THEIR_OWN: Readonly<Record<string, string>> = {
  'src/apiserver/http/listener.ts': 'the listener of the API server',
  'src/kube/serving/https-listener.ts': 'the listener of the runtime',
  'src/kube/manager/served-part.ts': 'the part of a manager around that listener',
  'src/lab/address/listening.ts': 'the listener of servers of a lab, on addresses of its own',
  'src/lab/address/network-host.ts': 'opens a port and closes it at once, to see whether it can be bound',
  'src/lab/address/octet-lock.ts': 'the lock of a lab network: closes every connection',
  'src/lab/node/server/start-node-server.ts': 'the server of a lab node, on the address of the node',
  'src/lab/process/preload.ts': 'moves listeners of programs in a lab to their address',
  'src/app/lab/hello.ts': 'the text of a program that a pod of the lab runs',
  'src/lab/cloud/start-cloud.ts': 'starts the server of the cloud',
  'src/lab/outside/start-cloud-services.ts': 'tells the cloud and its services where to listen',
  'src/rpc/serve-rpc.ts': 'listens on Unix sockets, or where whoever starts it says',
  'src/app/port.ts': 'opens a port and closes it at once, to see whether it is free',
};

function shownDefault(address: string): string {
  if (address === '0') return 'off';
  return address.includes(':') ? `\`${address}\`` : `\`:${address}\``;
}

const INTRO = `Every port that a program of this project opens. Addresses without a host are those of all interfaces of a
pod; commands of \`slipway\` listen on the loopback address only. A lab takes a number L that no other lab on the machine has
(16–250), and all its addresses are 127.L.x.y; where a machine has only 127.0.0.1, they are free ports of that.`;

/** docs/reference/ports.md (reliability P61). */
export const portsPage = (rows: readonly PortRow[]): string =>
  [
    '# Ports',
    INTRO,
    table(
      ['port of', 'flag', 'default', 'encryption', 'who may ask'],
      rows.map(({ what, flag, standard, encryption, caller }) => [
        what,
        flag === '' ? '–' : `\`${flag}\``,
        standard,
        encryption,
        caller,
      ]),
    ),
  ].join('\n\n');

const LISTENS = /\bListener\.start\(|\bnew ServedPart\(|\bcreate\w*Server\(|\.listen\((?!\(?\w+\)? =>)/;

/** Whether a source opens a port, or hands something over that does. */
export const listens = (text: string): boolean => LISTENS.test(text);
