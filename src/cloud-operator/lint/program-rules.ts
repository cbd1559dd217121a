import type { Container } from '../../api/generated/core-v1.ts';
import { perContainer } from './container-rules.ts';
import { type LintContext, type Problem, unless, type WorkloadRule } from './rule.ts';
import { DEPLOYED, flagOf, hasFlag, type Workload } from './workload.ts';

const containersAt = ({ podPath }: Workload): readonly PropertyKey[] => [...podPath, 'containers'];

/** The script of `bash -c`; undefined when it is started in another way. */
function scriptOf({ command = [], args = [] }: Container): string | undefined {
  const [shell, dash, script, ...rest] = command;
  const isScript = shell === '/bin/bash' && dash === '-c' && rest.length === 0 && args.length === 0;
  return isScript ? script : undefined;
}

/** In this order: variables are exported, the file is there, it is read, the program takes the place of the shell. */
const SOURCING = new RegExp(
  [
    String.raw`\bset\s+-(?:o\s+allexport|\w*a\w*)\b`,
    String.raw`\s-[efrs]\s+["']?/etc/kubernetes/apiserver-url\.env\b`,
    String.raw`(?:\bsource|\s\.)\s+["']?/etc/kubernetes/apiserver-url\.env\b`,
    String.raw`(?:^|[;&])\s*exec\s`,
  ].join(String.raw`[\s\S]*?`),
  'm',
);

const required = (flag: string, value: string): WorkloadRule['check'] => {
  const shown = `${flag}=${value}`;
  return (workload) => unless(hasFlag(workload, flag, value), `missing flag ${shown}`, containersAt(workload));
};

/** Of every cloud controller manager of OpenShift (R26); the namespace is the managed one. */
const ELECTION = [
  ['--leader-elect', 'true'],
  ['--leader-elect-lease-duration', '137s'],
  ['--leader-elect-renew-deadline', '107s'],
  ['--leader-elect-retry-period', '26s'],
] as const;

/** About how programs are started (W21–W33). */
export const PROGRAM_RULES: readonly WorkloadRule[] = [
  {
    id: 'CCM-W21',
    severity: 'error',
    targets: DEPLOYED,
    title: 'a start script',
    why: 'only a script can read the address of the API server before it starts the program',
    fix: 'write command: [/bin/bash, -c, script] with all arguments in the script, and no args',
    check: (workload) =>
      perContainer(
        workload,
        (container) => scriptOf(container) !== undefined,
        'inline the arguments into the start script',
      ),
  },
  {
    id: 'CCM-W22',
    severity: 'error',
    targets: DEPLOYED,
    title: 'a start script that reads the address of the API server',
    why: 'the machine config operator writes it to /etc/kubernetes/apiserver-url.env on every machine',
    fix: 'set -o allexport, source /etc/kubernetes/apiserver-url.env if it is there, then exec the program',
    check: (workload) =>
      perContainer(
        workload,
        // Also of commands that W21 is about: each rule has its own cause.
        ({ command = [], args = [] }) => [...command, ...args].some((word) => SOURCING.test(word)),
        'start script does not source apiserver-url.env',
      ),
  },
  {
    id: 'CCM-W24',
    severity: 'error',
    targets: ['deployment'],
    title: 'the leader election of OpenShift',
    why: 'a lease that is too short is lost whenever the API server of a single node restarts',
    fix: 'pass the five flags of leader election with the times of OpenShift',
    check: electionProblem,
  },
  {
    id: 'CCM-W25',
    severity: 'error',
    targets: ['deployment'],
    title: 'no routes in the cloud',
    why: 'the network of OpenShift brings packets to pods by itself',
    fix: 'pass --configure-cloud-routes=false',
    check: required('--configure-cloud-routes', 'false'),
  },
  {
    id: 'CCM-W26',
    severity: 'error',
    targets: ['deployment'],
    title: 'an account for each controller',
    why: 'each controller has the rights that it needs, and no others',
    fix: 'pass --use-service-account-credentials=true',
    check: required('--use-service-account-credentials', 'true'),
  },
  {
    id: 'CCM-W28',
    severity: 'warning',
    targets: ['deployment', 'bootstrap'],
    title: 'the name of the provider',
    why: 'the framework refuses a provider that is not named; external is for kubelets',
    fix: 'pass --cloud-provider with the name of the provider',
    check: (workload) =>
      unless(
        !['', 'external'].includes(flagOf(workload, '--cloud-provider') ?? ''),
        '--cloud-provider must name the provider',
        containersAt(workload),
      ),
  },
  {
    id: 'CCM-W32',
    severity: 'warning',
    targets: ['deployment'],
    title: 'the TLS settings of the cluster',
    why: 'the cluster decides about versions and ciphers, and may say nothing about them',
    fix: 'pass --tls-min-version={{ .tlsMinVersion }} and --tls-cipher-suites={{ .tlsCipherSuites }}, each within {{- if … }}',
    check: (workload) =>
      unless(
        TLS_FLAGS.every((pattern) => pattern.test(workload.source)),
        'TLS flags are not templated from tlsMinVersion and tlsCipherSuites, conditional on non-empty',
        containersAt(workload),
      ),
  },
  {
    id: 'CCM-W33',
    severity: 'warning',
    targets: ['deployment'],
    title: 'a secure port',
    why: 'the Service that the operator adds leads to port 10258',
    fix: 'leave --secure-port at 10258',
    check: (workload) =>
      unless(
        flagOf(workload, '--secure-port') !== '0',
        '--secure-port=0 makes the generated Service on 10258 unreachable',
        containersAt(workload),
      ),
  },
];

const tlsFlag = (flag: string, value: string): RegExp => {
  const notEnd = String.raw`(?:(?!\{\{-?\s*end\b)[\s\S])*?`;
  return new RegExp(
    String.raw`\{\{-?\s*if\s+\.${value}\s*-?\}\}${notEnd}--${flag}[=\s]["']?\{\{-?\s*\.${value}\s*-?\}\}`,
  );
};

const TLS_FLAGS = [tlsFlag('tls-min-version', 'tlsMinVersion'), tlsFlag('tls-cipher-suites', 'tlsCipherSuites')];

function electionProblem(workload: Workload, { managedNamespace }: LintContext): Problem | undefined {
  const wanted = [...ELECTION, ['--leader-elect-resource-namespace', managedNamespace] as const];
  const missing = wanted.filter(([flag, value]) => !hasFlag(workload, flag, value));
  const shown = missing.map((one) => one.join('='));
  return unless(missing.length === 0, `missing flag ${shown.join(', ')}`, containersAt(workload));
}
