#!/bin/sh
# Installs bardo @VERSION@ for Linux or macOS on x86-64 or arm64: the program, and bardo-chain beside it, into ~/.local/bin or
# the folder that is named.
#   sh install.sh [FOLDER]
# The archive is verified against the checksum in this script before it is unpacked. To remove it, remove both programs.
set -eu
version='@VERSION@' from="${BARDO_FROM:-@FROM@}" into="${1:-$HOME/.local/bin}"
case "$(uname -s) $(uname -m)" in
    "Linux x86_64") name=bardo-$version-linux-x86_64 sum='@SUM_X86_64@' ;;
    "Linux aarch64" | "Linux arm64") name=bardo-$version-linux-aarch64 sum='@SUM_AARCH64@' ;;
    "Darwin x86_64") name=bardo-$version-macos-x86_64 sum='@SUM_MACOS_X86_64@' ;;
    "Darwin arm64") name=bardo-$version-macos-arm64 sum='@SUM_MACOS_ARM64@' ;;
    *) sum= ;;
esac
if [ -z "$sum" ]; then
    echo "there is no program for $(uname -s) on $(uname -m); build it from source" >&2
    exit 1
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if command -v curl >/dev/null; then curl -fsSL -o "$work/$name.tar.gz" "$from/$name.tar.gz"
else wget -qO "$work/$name.tar.gz" "$from/$name.tar.gz"; fi
if command -v sha256sum >/dev/null; then got=$(sha256sum "$work/$name.tar.gz"); else got=$(shasum -a 256 "$work/$name.tar.gz"); fi
if [ "${got%% *}" != "$sum" ]; then
    echo "$from/$name.tar.gz is not what was released; nothing was installed" >&2
    exit 1
fi
tar -xzf "$work/$name.tar.gz" -C "$work"
mkdir -p "$into"
# Replaced in one step: a running program goes on with the old file.
for program in bardo-chain bardo; do
    cp "$work/$name/$program" "$into/.$program-$$"
    mv "$into/.$program-$$" "$into/$program"
done
echo "$into/bardo: $("$into/bardo" --version)"
case ":$PATH:" in *":$into:"*) echo "next: bardo demo" ;; *) echo "next: $into/bardo demo, and put $into into PATH" ;; esac
