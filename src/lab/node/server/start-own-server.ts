import type { Clock } from '../../../base/clock.ts';
import type { Log } from '../../../base/log.ts';
import { MemoryCertificate } from '../../../kube/serving/certificate-source.ts';
import { CertificateAuthority } from '../../../pki/certificate-authority.ts';
import type { AddressPlan, LabAddress } from '../../address/address-plan.ts';
import type { NodeServe } from './node-request.ts';
import { type NodeServer, startNodeServer } from './start-node-server.ts';

export interface OwnServerOptions {
  readonly name: string;
  readonly address: LabAddress;
  readonly serve: NodeServe;
  readonly clientCaPem: string;
  readonly plan: Pick<AddressPlan, 'listen'>;
  readonly real: Clock;
  readonly log: Log;
  readonly hold: (reason: string) => Disposable;
}

/** Where API servers look for it unless the Node says otherwise. */
export const NODE_PORT = 10_250;
const DAY_MS = 86_400_000;
const YEAR_MS = 365 * DAY_MS;

/** Serves a node with a certificate that it signs itself, as a kubelet does unless somebody signs one for it. */
export async function startOwnServer(options: OwnServerOptions): Promise<NodeServer> {
  const { name, address, plan, real } = options;
  const validity = { now: new Date(real.now().getTime() - DAY_MS), validityMs: YEAR_MS };
  const authority = await CertificateAuthority.create({ commonName: `${name}-ca`, ...validity });
  const { certificatePem, keys } = await authority.issue({
    kind: 'serving',
    commonName: name,
    dnsNames: [name],
    ipAddresses: [address.api, address.wire],
    ...validity,
  });
  return await startNodeServer({
    ...options,
    listen: (server) => plan.listen(server, { host: address.api, port: NODE_PORT }),
    certificates: new MemoryCertificate({ certificatePem, keyPem: keys.privateKeyPem }),
  });
}
