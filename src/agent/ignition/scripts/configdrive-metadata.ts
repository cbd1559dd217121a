/**
 * `configdrive_metadata`: what the config drive says about this machine, as lines `METADATA_<KEY>=<value>`. A value with
 * line breaks gets spaces instead, so that no value can add a line of its own.
 */
export const configdriveMetadataScript = (): string => String.raw`#!/bin/bash
# Writes the metadata of the config drive to /etc/metadata_env, one line for each key.
set -uo pipefail
export LC_ALL=C

ENV_FILE=/etc/metadata_env
MOUNT_POINT=$(mktemp -d) || exit 1
trap 'umount "$MOUNT_POINT" 2>/dev/null; rmdir "$MOUNT_POINT"' EXIT

# Units that read the file do not start without it, also on a machine without a config drive.
touch "$ENV_FILE"
if ! mount -o ro -L config-2 "$MOUNT_POINT"; then
    echo "configdrive-metadata: there is no config drive"
    exit 0
fi

METADATA=$(jq -r '
    to_entries[]
    | select(.key | test("\\A[A-Za-z0-9_-]+\\z"))
    | (.key | ascii_upcase | gsub("-"; "_")) as $name
    | (.value | tostring | gsub("[\r\n]"; " ")) as $value
    | "METADATA_\($name)=\($value)"
' "$MOUNT_POINT/openstack/latest/meta_data.json") || exit 1
printf '%s\n' "$METADATA" | sort -u > "$ENV_FILE"
`;
