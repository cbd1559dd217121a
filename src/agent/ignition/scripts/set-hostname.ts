/** `set_hostname`: names the machine after a variable of its metadata; leaves the name alone when there is none. */
export const setHostnameScript = (variable: string): string => `#!/bin/bash
# Names this machine after its metadata, which is only read, never run.
ENV_VAR_NAME="${variable}"
NODE_NAME=""
if [ -f /etc/metadata_env ]; then
    NODE_NAME=$(/usr/bin/grep "^$ENV_VAR_NAME=" /etc/metadata_env | /usr/bin/tail -n 1 | /usr/bin/cut -d'=' -f2-)
fi
case "$NODE_NAME" in
    '') echo "set-hostname: the metadata has no $ENV_VAR_NAME" ;;
    # No name of a host begins so: it would be an option.
    -*) echo "set-hostname: $ENV_VAR_NAME is no name of a host" ;;
    *) /usr/bin/hostnamectl set-hostname "$NODE_NAME" ;;
esac
`;
