import { DEFINITION_FAILURES } from './provider/definition-failures.ts';
import type { ExitCode } from './verb.ts';

/** What `slipway explain CODE` prints; also docs/reference/errors.md (a test compares them). */
export interface FailureEntry {
  readonly title: string;
  readonly cause: string;
  readonly detect: string;
  readonly fix: string;
  readonly example: string;
}

/** Every code a message of ours may carry. Codes are never reused. */
export const FAILURES = {
  SW1001: {
    title: 'Unknown verb, option or argument',
    cause: 'The command line holds a word that Slipway does not know.',
    detect: 'Verbs and options are compared with the tables they are declared in, before anything is done.',
    fix: 'Use the suggested word, or see `slipway --help` and `slipway VERB --help`.',
    example: 'slipway doctr → unknown verb "doctr". Did you mean doctor?',
  },
  SW1002: {
    title: 'A setting has a value that is not allowed',
    cause: 'A flag, an environment variable or the config file gives a value of the wrong kind or range.',
    detect: 'All settings are parsed once, at start, against one table.',
    fix: 'Give one of the allowed values that the message lists; the message also says where the value came from.',
    example: 'slipway up --port 70000 → --port must be a whole number from 0 to 65535, not "70000"',
  },
  SW1003: {
    title: 'The config file cannot be used',
    cause: 'The file named by --config or SLIPWAY_CONFIG is missing, is not YAML, or holds an unknown key.',
    detect: 'The file is read and compared with the settings table at start.',
    fix: 'Correct the place the message names; keys are the flag names without dashes in front.',
    example: 'slipway up --config site.yaml → site.yaml: unknown key "prot". Did you mean port?',
  },
  SW1004: {
    title: 'The scenario cannot be used',
    cause:
      'The file named by --scenario or SLIPWAY_SCENARIO is missing, is not YAML, or describes no lab that can be started.',
    detect: 'The file is read and compared with what a lab may consist of, before anything is started.',
    fix: 'Correct the lines that the message names; docs/reference/scenario.md lists what may be written.',
    example: 'slipway up --scenario lab.yaml → lab.yaml:3: clusters.0.worker is unknown: did you mean workers?',
  },
  SW1101: {
    title: 'A port cannot be used',
    cause: 'Another program listens on the port that was asked for, or this user may not use it.',
    detect: 'The port is opened on the loopback address before anything else starts.',
    fix: 'Choose another with --port, or 0 for any free one; or stop the other program.',
    example: 'slipway up --port 7440 → port 7440 is in use by another program',
  },
  SW1102: {
    title: 'Slipway is already running here',
    cause: 'A second `slipway up` was started with the data folder of a running one.',
    detect: 'The data folder holds the id and start time of the process that uses it.',
    fix: 'Use the running one, stop it, or give this one a folder of its own with --data.',
    example: 'slipway up, twice in one folder',
  },
  SW1103: {
    title: 'The data folder cannot be written',
    cause: 'The folder belongs to somebody else, is a file, is on a read-only disk, or the disk is full.',
    detect: 'The folder is created and a lock is written into it at start.',
    fix: 'Choose another folder with --data, or give yourself this one.',
    example: 'slipway up --data /proc/x',
  },
  SW1104: {
    title: 'The store of the API server cannot be opened',
    cause:
      'Its folder is in use by another process, a file in it may not be read, it was written by a later release, or its contents are damaged.',
    detect: 'The folder is locked, and every record is compared with its checksum, before anything is served.',
    fix: 'The message names the process to stop, the file, the release to use, or the command that keeps everything before the damage.',
    example: 'slipway apiserver --data .slipway/api, twice at once',
  },
  SW1105: {
    title: 'The kubeconfig cannot be written',
    cause: 'Its place is a folder, is below a file, or may not be written to.',
    detect: 'A file is made beside it and removed again before the API server starts.',
    fix: 'Choose another place: a file with --kubeconfig-out of `slipway apiserver`, a folder with --data of `slipway up`.',
    example: 'slipway apiserver --kubeconfig-out /proc/kubeconfig',
  },
  SW1106: {
    title: 'There is no damaged store to repair',
    cause:
      'The folder holds no store, or one that opens as it is. A repair cuts a store, so a good one would only lose.',
    detect: 'The store is opened and verified as at a start, before a repair changes anything.',
    fix: 'Start `slipway apiserver` with the folder. For an older state, restore a backup into another folder.',
    example: 'slipway apiserver repair --data .slipway/api --to-revision 5',
  },
  SW1107: {
    title: 'The keys of the API server cannot be used',
    cause: 'The file identity.json in the data folder was changed, cut off, or may not be read.',
    detect: 'Every key and certificate in it is read before the store is opened.',
    fix: 'Put the file back from a copy. Or remove it: new keys are made, and kubeconfigs and tokens of before are refused.',
    example: 'slipway apiserver --data .slipway/api, after identity.json was edited',
  },
  SW1108: {
    title: 'The lab, or the cloud in it, does not work',
    cause:
      'Of the lab: no network of its own is free on this machine, a process cannot be started, or a pod does not get ready. Of the cloud: the provider throws, its configuration or credentials are refused, its cloud controller manager ends over and over, or the Service of the journey gets no load balancer that answers.',
    detect:
      'Addresses are taken, nodes register and a pod is probed. Then the nodes of the cloud must lose their taint and a load balancer must answer within two minutes; a failure that no further try heals ends the wait early.',
    fix: 'Read `cause` first: it repeats what the provider or the pod said last. Correct the provider, or follow the `next` lines, and go on with `slipway up --from PHASE`. What was seen is in the file not-ready.txt or cloud-not-ready.txt of the lab, with the last lines of the log. To look with kubectl, leave out --once. `slipway doctor` checks the machine.',
    example: 'slipway up, with a provider that throws when it is asked for a machine',
  },
  SW1109: {
    title: 'The cluster on bare metal is not installed',
    cause:
      'A host does not register or is not approved, its installation fails, the release cannot be read, or everything takes longer than three minutes.',
    detect:
      'The installation must reach the state adding-hosts with all five hosts done within three minutes; an installation that ends in an error is not waited for.',
    fix: 'Read `cause` first. `slipway describe cluster acme-lab` shows what each host and its objects wait for, while the journey runs without --once. Go on with `slipway up --from cluster`, or begin anew in another folder with --data.',
    example: 'slipway up, on a machine that is too busy to start five nodes',
  },
  SW1201: {
    title: 'A phase of the journey failed',
    cause: 'The phase waited for something that did not become true; the message names the first such thing.',
    detect: 'Each phase owns an ordered list of probes; the first false one is the cause.',
    fix: 'Follow the `next` lines of the failure, then continue with `slipway up --from PHASE`.',
    example: 'phase cloud: 3 of 5 nodes stayed uninitialised',
  },
  SW1301: {
    title: 'The package cannot be built',
    cause: 'A project that is made from a clone uses its dist/, which is missing or older than the sources.',
    detect: '`slipway init` compares a digest of the sources with the one that the last build left in dist/.',
    fix: 'Run `npm run build` in the clone and correct what it says.',
    example: 'slipway init provider my-cloud, in a clone whose sources do not compile',
  },
  SW1302: {
    title: 'That is no name for a project',
    cause: 'Names of objects, files, classes and variables are made of the name.',
    detect: 'The name is checked before anything is written.',
    fix: 'Use up to 40 lower-case letters, digits and single dashes, with a letter first.',
    example: 'slipway init provider My_Cloud',
  },
  SW1303: {
    title: 'There is no room for the project',
    cause: 'The folder is not empty, is a file, or may not be written to.',
    detect: 'The folder is looked at first, and the project is written beside it and then moved there as a whole.',
    fix: 'Choose another place with --dir.',
    example: 'slipway init provider my-cloud --dir .',
  },
  SW1304: {
    title: 'What was rendered cannot be written',
    cause: 'A part of the path is a file, belongs to somebody else, or the disk is full or read-only.',
    detect: '`slipway render --out` makes the folders and writes one file after the other.',
    fix: 'Choose another folder with --out, or give yourself this one; then render again.',
    example: 'slipway render deploy --out /proc/x',
  },
  SW1401: {
    title: 'The management cluster cannot be read',
    cause:
      'There is no kubeconfig, its API server does not answer or refuses you, or Cluster API is not installed there.',
    detect: 'The kubeconfig is read and Clusters are listed, before anything is shown.',
    fix: 'Name the right file with --kubeconfig or KUBECONFIG; you need the right to list Clusters, at least in one namespace.',
    example: 'slipway describe cluster lab --kubeconfig missing',
  },
  SW1402: {
    title: 'There is no such cluster',
    cause: 'No Cluster of Cluster API has that name, or it is in another namespace.',
    detect: 'Clusters of all namespaces, or of that of --namespace, are looked through for the name.',
    fix: 'Use one of the names that the message lists; leave --namespace out to look everywhere.',
    example: 'slipway describe cluster lba → there is no cluster "lba". Did you mean lab?',
  },
  SW1403: {
    title: 'Several clusters have that name',
    cause: 'Two namespaces may each have a Cluster of the same name, and nothing says which one is meant.',
    detect: 'Clusters of all namespaces are looked through for the name.',
    fix: 'Give --namespace with one of those that the message lists.',
    example: 'slipway describe cluster lab, with a Cluster lab in the namespaces a and b',
  },
  ...DEFINITION_FAILURES,
  SW9001: {
    title: 'Internal error',
    cause: 'Slipway met a state nobody foresaw: a bug of ours, not yours.',
    detect: 'Anything thrown that is not a failure with a code of its own.',
    fix: 'Run the same command with --debug and report what it prints.',
    example: 'slipway version --debug',
  },
} as const satisfies Readonly<Record<string, FailureEntry>>;

export type FailureCode = keyof typeof FAILURES;

export const isFailureCode = (text: string): text is FailureCode => Object.hasOwn(FAILURES, text);

/** Ends a command with one message, a code for `explain` and an exit code. */
export class CommandError extends Error {
  readonly code: FailureCode;
  readonly exitCode: ExitCode;

  constructor(code: FailureCode, exitCode: ExitCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'CommandError';
    this.code = code;
    this.exitCode = exitCode;
  }
}

export const usageError = (message: string): CommandError => new CommandError('SW1001', 2, message);
