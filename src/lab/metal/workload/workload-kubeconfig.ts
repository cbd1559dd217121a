import { z } from 'zod';
import { parseYaml } from '../../../object/yaml.ts';

/** Which API server a kubeconfig leads to. */
interface ServerName {
  readonly server: string;
  /** Who vouches for it, in base64; a server with the same address and another authority is another one. */
  readonly authority: string;
}

const kubeconfig = z.object({
  clusters: z.tuple([
    z.object({ cluster: z.object({ server: z.string(), 'certificate-authority-data': z.string() }) }),
  ]),
});

/** Pure: undefined for a text that is no kubeconfig of one cluster. */
function serverOf(text: string): ServerName | undefined {
  const parsed = kubeconfig.safeParse(yamlOf(text));
  if (!parsed.success) return undefined;
  const [{ cluster }] = parsed.data.clusters;
  return { server: cluster.server, authority: cluster['certificate-authority-data'] };
}

/** Pure: whether two kubeconfigs lead to the same server. */
export function isSameServer(one: string, other: string): boolean {
  const [left, right] = [serverOf(one), serverOf(other)];
  return left !== undefined && left.server === right?.server && left.authority === right.authority;
}

function yamlOf(text: string): unknown {
  try {
    return parseYaml(text);
  } catch {
    return undefined;
  }
}
