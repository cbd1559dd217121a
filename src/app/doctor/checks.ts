import type { Facts, Program } from './facts.ts';

/** One row of the table `slipway doctor` prints (experience 5.5). */
export interface Check {
  readonly name: string;
  readonly verdict: 'ok' | 'problem' | 'missing' | 'not checked';
  readonly found: string;
  /** What to do, or for something optional what is lost without it; empty when all is well. */
  readonly advice: string;
  /** Only a required problem makes the command fail. */
  readonly isRequired: boolean;
}

const NEEDED_NODE = 24;
const NEEDED_MEGABYTES = 1000;
const NEEDED_FILES = 1024;
/** 64 programs at most, each with the threads of Node, and some for the rest. */
const NEEDED_PROCESSES = 1024;
const TOLERATED_SKEW_SECONDS = 30;

/** The verdict on every fact, in the order people read them. */
export function checks(facts: Facts): readonly Check[] {
  return [
    nodeCheck(facts),
    folderCheck(facts),
    diskCheck(facts),
    openFilesCheck(facts),
    processesCheck(facts),
    ...labChecks(facts),
    portCheck(facts),
    localeCheck(facts),
    { name: 'crypto', verdict: 'ok', found: `OpenSSL ${facts.openssl}`, advice: '', isRequired: false },
    proxyCheck(facts),
    ...registryChecks(facts),
    programCheck('kubectl', facts.programs.kubectl, 'you will look at clusters with slipway only'),
    programCheck('chromium', facts.programs.chromium, 'tests of the web page are skipped'),
    programCheck(
      'go',
      facts.programs.go,
      'oracles cannot be built, so the tests against the real Kubernetes are skipped',
    ),
  ];
}

const required = (name: string, isGood: boolean, found: string, advice: string): Check => ({
  name,
  verdict: isGood ? 'ok' : 'problem',
  found,
  advice: isGood ? '' : advice,
  isRequired: true,
});

const nodeCheck = ({ node }: Facts): Check =>
  required('node', Number(node.split('.')[0]) >= NEEDED_NODE, node, `install Node ${NEEDED_NODE} or later`);

const folderCheck = ({ folder, isWritable }: Facts): Check =>
  required(
    'folder',
    isWritable,
    isWritable ? 'writable' : `${folder} is not writable`,
    'run in a folder of your own',
  );

function diskCheck({ freeMegabytes }: Facts): Check {
  if (freeMegabytes === undefined) return unknown('disk');
  const advice = `free some space: ${NEEDED_MEGABYTES} MB are needed`;
  return required('disk', freeMegabytes >= NEEDED_MEGABYTES, `${freeMegabytes} MB free`, advice);
}

function openFilesCheck({ openFiles }: Facts): Check {
  if (openFiles === undefined) return unknown('open files');
  const advice = `raise the limit: ulimit -n ${NEEDED_FILES}`;
  return required('open files', openFiles >= NEEDED_FILES, `limit ${openFiles}`, advice);
}

function processesCheck({ processes }: Facts): Check {
  if (processes === undefined) return unknown('processes');
  const isEnough = processes >= NEEDED_PROCESSES;
  return {
    name: 'processes',
    verdict: isEnough ? 'ok' : 'problem',
    found: processes === Number.POSITIVE_INFINITY ? 'no limit' : `limit ${processes}, threads included`,
    advice: isEnough
      ? ''
      : `pods of a large lab will not start; raise it: ulimit -u ${NEEDED_PROCESSES}, or --pids-limit of the container`,
    isRequired: false,
  };
}

/** What a lab can do here: each line says what is on and why. */
function labChecks({ lab, orphans }: Facts): readonly Check[] {
  const { network, isolation, lowPortOffset } = lab;
  const rows = [
    {
      name: 'lab network',
      isGood: network.isUsable,
      found: network.text,
      advice: 'no lab can be started until this is solved',
    },
    {
      name: 'low ports',
      isGood: true,
      found: lowPortOffset === 0 ? 'programs of a lab may use them' : `found at ${lowPortOffset} + port in a lab`,
      advice: '',
    },
    {
      name: 'lab volumes',
      isGood: isolation.isExact,
      found: isolation.text,
      advice: 'programs that read fixed paths, such as Go programs in a pod, need mount namespaces',
    },
  ];
  return [...rows.map(labCheck), orphansCheck(orphans)];
}

const labCheck = ({
  isGood,
  advice,
  ...row
}: Pick<Check, 'name' | 'found' | 'advice'> & { isGood: boolean }): Check => ({
  ...row,
  verdict: isGood ? 'ok' : 'problem',
  advice: isGood ? '' : advice,
  isRequired: false,
});

/** Where nobody reaps what lost its parent, ended processes stay in the table until the container ends (lab P6). */
function orphansCheck(orphans: Facts['orphans']): Check {
  if (orphans === undefined) return unknown('orphans');
  const { isReaped, isFirstProcess } = orphans;
  const who = isFirstProcess ? 'this is process 1, which must reap them' : 'process 1 does not reap them';
  return labCheck({
    name: 'orphans',
    isGood: isReaped && !isFirstProcess,
    found: isReaped && !isFirstProcess ? 'reaped when they end' : `stay as zombies: ${who}`,
    advice: 'start the container with an init: podman run --init',
  });
}

function portCheck({ dashboardPort: { port, isFree } }: Facts): Check {
  return {
    name: 'port',
    verdict: isFree ? 'ok' : 'problem',
    found: `${port} is ${isFree ? 'free' : 'in use by another program'}`,
    advice: isFree ? '' : 'the next free one is taken; choose one with --port',
    isRequired: false,
  };
}

function localeCheck({ locale }: Facts): Check {
  const isUtf8 = /utf-?8/i.test(locale);
  return {
    name: 'locale',
    verdict: isUtf8 ? 'ok' : 'problem',
    found: locale === '' ? 'not set' : locale,
    advice: isUtf8 ? '' : 'symbols are shown in ASCII; set LANG=C.UTF-8 for the others',
    isRequired: false,
  };
}

function proxyCheck({ proxies }: Facts): Check {
  const found = proxies.length === 0 ? 'none' : proxies.join(', ');
  return { name: 'proxies', verdict: 'ok', found, advice: '', isRequired: false };
}

function registryChecks({ registry }: Facts): readonly Check[] {
  if (registry === undefined) {
    return [notAsked('npm registry'), notAsked('clock')];
  }
  const { isReachable, clockSkewSeconds } = registry;
  const advice = 'check the network, the proxy and npm config get registry';
  const reach = required('npm registry', isReachable, isReachable ? 'reachable' : 'no answer', advice);
  if (clockSkewSeconds === undefined) return [reach, unknown('clock')];
  const isClose = Math.abs(clockSkewSeconds) <= TOLERATED_SKEW_SECONDS;
  const clock = required(
    'clock',
    isClose,
    `${clockSkewSeconds} s off`,
    'set the clock: certificates and leases would fail',
  );
  return [reach, clock];
}

const notAsked = (name: string): Check => ({
  name,
  verdict: 'not checked',
  found: '–',
  advice: 'add --online to check it',
  isRequired: false,
});

const unknown = (name: string): Check => ({
  name,
  verdict: 'not checked',
  found: 'cannot be found out on this system',
  advice: '',
  isRequired: false,
});

function programCheck(name: string, program: Program, loss: string): Check {
  const advice = `optional; without it ${loss}`;
  switch (program.state) {
    case 'found':
      return { name, verdict: 'ok', found: program.version, advice: '', isRequired: false };
    case 'absent':
      return { name, verdict: 'missing', found: 'not on the PATH', advice, isRequired: false };
    case 'broken':
      return { name, verdict: 'problem', found: program.why, advice, isRequired: false };
  }
}

/** The checks as aligned text, with a closing sentence. */
export function checksText(all: readonly Check[]): string {
  const width = (texts: readonly string[]) => Math.max(0, ...texts.map((text) => text.length));
  const [names, verdicts] = [width(all.map((c) => c.name)), width(all.map((c) => c.verdict))];
  // A sentence with nothing behind it takes no room from the others.
  const found = width(all.filter((c) => c.advice !== '').map((c) => c.found));
  const lines = all.map(({ name, verdict, found: what, advice }) =>
    `${name.padEnd(names)}  ${verdict.padEnd(verdicts)}  ${what.padEnd(found)}  ${advice}`.trimEnd(),
  );
  const broken = all.filter(isBroken);
  const end =
    broken.length === 0
      ? 'Slipway can run here.'
      : `Slipway cannot run here: ${broken.map((c) => c.name).join(', ')}.`;
  return [...lines, '', end].join('\n');
}

export const isBroken = ({ isRequired, verdict }: Check): boolean => isRequired && verdict === 'problem';
