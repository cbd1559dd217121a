/** Commands of the user, and the file that says they were done. */
export interface BootstrapCommands {
  readonly commands: readonly string[];
  /** Without a slash at its end. */
  readonly directory: string;
  readonly sentinel: string;
}

/** `capoa-pre-bootstrap.sh`: the commands as they are. A failure leaves no sentinel, so the next boot tries again. */
export const preBootstrapScript = (options: BootstrapCommands): string =>
  ['#!/bin/bash', 'set -euo pipefail', ...commandLines(options)].join('\n');

/** `capoa-post-bootstrap.sh`: waits for the API and for the node in it, ten minutes in all, then runs the commands. */
export const postBootstrapScript = (options: BootstrapCommands, kubeconfig: string): string =>
  ['#!/bin/bash', 'set -euo pipefail', '', waitForNode(kubeconfig), ...commandLines(options)].join('\n');

const commandLines = ({ commands, directory, sentinel }: BootstrapCommands): readonly string[] => [
  ...commands,
  `mkdir -p ${directory}`,
  `touch ${sentinel}`,
  '',
];

// A kubeconfig with a missing or expired certificate looks like an API that does not answer, and is waited for alike.
const waitForNode = (kubeconfig: string): string => `KUBECONFIG_PATH="${kubeconfig}"
MAX_WAIT=600
INTERVAL=10
ELAPSED=0

# Asks again and again until the answer is yes. All questions together have one budget of time.
wait_until() {
    local what=$1
    shift
    echo "Waiting for $what"
    until "$@" >/dev/null 2>&1; do
        if [ "$ELAPSED" -ge "$MAX_WAIT" ]; then
            echo "ERROR: no $what after \${MAX_WAIT}s"
            exit 1
        fi
        sleep "$INTERVAL"
        ELAPSED=$((ELAPSED + INTERVAL))
    done
    echo "Found $what after \${ELAPSED}s"
}

wait_until "the kube API" kubectl --kubeconfig="\${KUBECONFIG_PATH}" get --raw /readyz
wait_until "the node $(hostname)" kubectl --kubeconfig="\${KUBECONFIG_PATH}" get node "$(hostname)"
`;
