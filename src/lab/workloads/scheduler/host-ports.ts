import type { Container, Pod } from '../../../api/generated/core-v1-types.ts';

/** A port of the node that a pod wants for itself. */
export interface HostPort {
  readonly ip: string;
  /** `TCP/80`. */
  readonly port: string;
}

const ANY = '0.0.0.0';

/** The ports of a node that a pod takes: those it names, and with the network of the host all of its containers. */
export function hostPortsOf({ spec }: Pick<Pod, 'spec'>): readonly HostPort[] {
  const { containers, initContainers = [], hostNetwork = false } = spec;
  const sidecars = initContainers.filter(({ restartPolicy }) => restartPolicy === 'Always');
  return [...sidecars, ...containers].flatMap((container) => portsOf(container, hostNetwork));
}

const portsOf = ({ ports = [] }: Container, isOnHost: boolean): readonly HostPort[] =>
  ports.flatMap(({ hostPort = 0, containerPort, protocol = 'TCP', hostIP = '' }) => {
    const port = hostPort > 0 ? hostPort : isOnHost ? containerPort : 0;
    return port > 0 ? [{ ip: hostIP === '' ? ANY : hostIP, port: `${protocol}/${port}` }] : [];
  });

/** The ports of one node that its pods have taken. Bounded by what the pods of a node name. */
export class PortUse {
  /** How many have it, by port and address: pods that choose their node themselves may clash. */
  readonly #taken = new Map<string, Map<string, number>>();

  take(ports: readonly HostPort[]): void {
    for (const { ip, port } of ports) {
      const byIp = this.#taken.get(port) ?? new Map<string, number>();
      this.#taken.set(port, byIp.set(ip, (byIp.get(ip) ?? 0) + 1));
    }
  }

  giveBack(ports: readonly HostPort[]): void {
    for (const { ip, port } of ports) {
      const byIp = this.#taken.get(port);
      const left = (byIp?.get(ip) ?? 0) - 1;
      if (left > 0) byIp?.set(ip, left);
      else byIp?.delete(ip);
      if (byIp?.size === 0) this.#taken.delete(port);
    }
  }

  /** Whether one of the ports is taken: every address clashes with the one that means all of them. */
  clashesWith(ports: readonly HostPort[]): boolean {
    return ports.some(({ ip, port }) => {
      const byIp = this.#taken.get(port);
      return byIp !== undefined && (ip === ANY || byIp.has(ip) || byIp.has(ANY));
    });
  }

  /** `TCP/80 on 0.0.0.0: 1`, in order; for comparing. */
  get entries(): readonly string[] {
    const all = [...this.#taken].flatMap(([port, byIp]) =>
      [...byIp].map(([ip, count]) => `${port} on ${ip}: ${count}`),
    );
    return all.toSorted();
  }
}
