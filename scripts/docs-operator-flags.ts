import type { Flag } from '../src/kube/manager/flag-parser.ts';
import { flagTable } from './docs-cloud-flags.ts';

const INTRO = `\`slipway run cloud-operator\` and \`slipway run cloud-config-sync\` take the flags of the two upstream programs, with the
same names and defaults: \`--name=value\` or \`--name value\`. All problems are printed at once, with exit code 2, and nothing is
started; only a \`--provider\` that cannot be loaded is told of alone, before the others. Of the environment only \`RELEASE_VERSION\` is asked: the version that the ClusterOperator reports.

\`--provider\` is the id of a platform, or the file or folder with the definition of a provider. A provider of yours runs on
platform External, beside the operator of the payload (\`--mode=sidecar\`): namespaces, leases and ClusterOperator have names of its
own then. Otherwise the names are those of the payload (\`--mode=replace\`), and the program refuses to start while somebody else
holds its lease.

The exit code is 0 after a signal or when the TLS profile of the cluster has changed, 1 when a part failed, the leadership was lost or
somebody else is at work, 2 for wrong flags, 3 when the objects of the cluster could not be read in time.`;

/** docs/reference/cloud-operator-flags.md, from the tables that the flags are parsed with. */
export const operatorFlagsPage = (flags: {
  readonly both: readonly Flag[];
  readonly operator: readonly Flag[];
  readonly configSync: readonly Flag[];
}): string =>
  [
    '# Flags of the cloud operator',
    INTRO,
    '## Both programs',
    flagTable(flags.both),
    '## Only `cloud-operator`',
    flagTable(flags.operator),
    '## Only `cloud-config-sync`',
    flagTable(flags.configSync),
  ].join('\n\n');
