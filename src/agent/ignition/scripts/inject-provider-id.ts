export interface InjectorOptions {
  /** The file has variables that are still to be expanded. */
  readonly isTemplate: boolean;
}

/**
 * `inject-provider-id`: adds `--provider-id` to kubelet's command, since the kubelet unit of bare metal has no such flag.
 * Looks at kubelet's unit without our own drop-in, so that an upgraded unit is taken over at the next boot.
 */
export const injectProviderIdScript = ({ isTemplate }: InjectorOptions): string =>
  [HEAD, ...(isTemplate ? [EXPANSION] : []), FUNCTIONS, isTemplate ? READ_TEMPLATE : READ, INJECT].join('\n');

const HEAD = `#!/bin/bash
# Gives kubelet its provider ID, unless its unit already has one.
set -euo pipefail
export LC_ALL=C

PROVIDER_ID_FILE=/run/kubelet-provider-id
DROPIN_DIR=/etc/systemd/system/kubelet.service.d
DROPIN_FILE="$DROPIN_DIR/20-provider-id.conf"
`;

const EXPANSION = `METADATA_ENV_FILE=/etc/metadata_env

# What the metadata has for a name, or nothing; the last line counts. The file is only read, never run.
metadata_value() {
    local line value=''
    [[ -f $METADATA_ENV_FILE ]] || return 0
    while IFS= read -r line || [[ -n $line ]]; do
        if [[ $line == "$1="* ]]; then value=\${line#*=}; fi
    done < "$METADATA_ENV_FILE"
    printf '%s' "$value"
}

# A name behind a dollar sign, in braces or not, becomes its value; every other character stays as it is.
expand() {
    local rest=$1 expanded='' name
    while [[ $rest == *'$'* ]]; do
        expanded+=\${rest%%'$'*}
        rest=\${rest#*'$'}
        if [[ $rest =~ ^[A-Za-z_][A-Za-z0-9_]* || $rest =~ ^\\{[A-Za-z_][A-Za-z0-9_]*\\} ]]; then
            name=\${BASH_REMATCH[0]}
            rest=\${rest:\${#name}}
            name=\${name#'{'}
            expanded+=$(metadata_value "\${name%'}'}")
        else
            expanded+='$'
        fi
    done
    printf '%s' "$expanded$rest"
}
`;

const FUNCTIONS = `# The text for the inside of double quotes in a unit file.
unit_quoted() {
    local text=$1
    text=\${text//\\\\/\\\\\\\\}
    text=\${text//'"'/'\\"'}
    text=\${text//'%'/'%%'}
    text=\${text//'$'/'$$'}
    text=\${text//$'\\n'/'\\n'}
    printf '%s' "$text"
}

# The command of kubelet that counts, as one line. Every file of the unit begins with a comment that names it.
kubelet_command() {
    systemctl cat kubelet.service | awk -v own="# $DROPIN_FILE" '
        /^# \\// { skip = ($0 == own) }
        skip || /^[ \\t]*[#;]/ { next }
        { line = line $0 }
        sub(/\\\\$/, " ", line) { next }
        sub(/^[ \\t]*ExecStart[ \\t]*=[ \\t]*/, "", line) { command = line }
        { line = "" }
        END { print command }
    '
}
`;

const READ = `PROVIDER_ID=$(cat "$PROVIDER_ID_FILE" 2>/dev/null) || true
`;

const READ_TEMPLATE = `PROVIDER_ID=$(expand "$(cat "$PROVIDER_ID_FILE" 2>/dev/null)")
`;

const INJECT = `if [[ -z $PROVIDER_ID ]]; then
    echo "inject-provider-id: there is no provider ID"
    exit 0
fi

COMMAND=$(kubelet_command)
if [[ -z $COMMAND ]]; then
    echo "inject-provider-id: ERROR: kubelet.service has no ExecStart"
    exit 1
fi

if [[ $COMMAND == *--provider-id* ]]; then
    echo "inject-provider-id: --provider-id is already set in kubelet.service"
    # One of ours would hide the command that has it.
    if [[ -f $DROPIN_FILE ]]; then
        rm "$DROPIN_FILE"
        systemctl daemon-reload
    fi
    exit 0
fi

mkdir -p "$DROPIN_DIR"
{
    echo "[Service]"
    echo "ExecStart="
    echo "ExecStart=$COMMAND --provider-id=\\"$(unit_quoted "$PROVIDER_ID")\\""
} > "$DROPIN_FILE"
systemctl daemon-reload
echo "inject-provider-id: kubelet gets its provider ID"
`;
