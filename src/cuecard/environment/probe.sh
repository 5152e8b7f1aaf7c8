# Functions for a POSIX shell that prints facts about its machine. Each is a record
# `KEY=VALUE` that ends with NUL, since a folder's name may hold anything else. What calls
# the functions is added below them by script.py.

unset CDPATH GIT_DIR GIT_WORK_TREE GIT_COMMON_DIR GIT_INDEX_FILE GIT_NAMESPACE GIT_PREFIX \
    GIT_OBJECT_DIRECTORY GIT_ALTERNATE_OBJECT_DIRECTORIES GIT_CONFIG GIT_CONFIG_COUNT \
    GIT_CONFIG_PARAMETERS GIT_TRACE GIT_TRACE_SETUP
export GIT_OPTIONAL_LOCKS=0 GIT_TERMINAL_PROMPT=0 GIT_TRACE2=0 GIT_TRACE2_EVENT=0 \
    GIT_TRACE2_PERF=0 GIT_ALLOW_PROTOCOL=none

# Without these some tools would fetch another version of themselves, or write a log.
export GOTOOLCHAIN=local RUSTUP_AUTO_INSTALL=0 COREPACK_ENABLE_NETWORK=0 UV_OFFLINE=1 \
    NPM_CONFIG_LOGS_MAX=0 NPM_CONFIG_UPDATE_NOTIFIER=false NPM_CONFIG_CACHE=/ \
    PYTHONDONTWRITEBYTECODE=1

cuecard_machine() {
    cuecard_kernel=$(uname -srm </dev/null 2>/dev/null)
    printf 'kernel=%s\0' "$cuecard_kernel"
    case $cuecard_kernel in
    Darwin*) cuecard_mac ;;
    *) cuecard_distribution ;;
    esac
    printf 'shell='
    cuecard_login_shell
    printf '\0'
}

cuecard_mac() {
    # Asking one of these without the developer tools opens a dialog on the screen.
    xcode-select -p </dev/null >/dev/null 2>&1 ||
        cuecard_stubs=' /usr/bin/git /usr/bin/python3 /usr/bin/make /usr/bin/gcc '
    printf 'distribution='
    sw_vers -productName </dev/null 2>/dev/null
    sw_vers -productVersion </dev/null 2>/dev/null
    printf '\0'
}

# Read, and not sourced: the file of a machine is text here, not a program.
cuecard_distribution() {
    for cuecard_file in /etc/os-release /usr/lib/os-release; do
        [ -r "$cuecard_file" ] || continue
        while IFS= read -r cuecard_line; do
            case $cuecard_line in
            PRETTY_NAME=*)
                printf 'distribution=%s\0' "${cuecard_line#PRETTY_NAME=}"
                return
                ;;
            esac
        done <"$cuecard_file"
    done
}

cuecard_login_shell() {
    if [ -n "${SHELL:-}" ]; then
        printf '%s' "$SHELL"
        return
    fi
    cuecard_id=$(id -u </dev/null 2>/dev/null) && [ -r /etc/passwd ] || return
    while IFS=: read -r _ _ cuecard_user _ _ _ cuecard_shell; do
        if [ "$cuecard_user" = "$cuecard_id" ]; then
            printf '%s' "$cuecard_shell"
            return
        fi
    done </etc/passwd
}

# Everything else runs in `/`: in a folder of strangers, its files could choose what runs.
cuecard_folder() { # [FOLDER]
    if [ "$#" -gt 0 ] && ! cd -- "$1" >/dev/null 2>&1; then
        printf 'nofolder=\0'
    else
        # The letter keeps newlines at the end of the name.
        cuecard_here=$(pwd -P && printf x)
        cuecard_here=${cuecard_here%?x}
        printf 'folder=%s\0' "$cuecard_here"
    fi
    cd /
}

# The reference HEAD by plumbing, which reads neither the index nor any hook.
cuecard_head() {
    [ -n "${cuecard_here:-}" ] && cuecard_offered git || return
    if cuecard_name=$(cuecard_git symbolic-ref --quiet HEAD); then
        printf 'branch=%s\0' "$cuecard_name"
    elif cuecard_name=$(cuecard_git rev-parse --verify --quiet HEAD); then
        printf 'commit=%s\0' "$cuecard_name"
    fi
}

cuecard_git() {
    cuecard_watched git -C "$cuecard_here" "$@"
}

cuecard_tool() { # NUMBER COMMAND ARGUMENT...
    cuecard_number=$1
    shift
    cuecard_offered "$1" && cuecard_watched "$@" >/dev/null &&
        printf 'tool=%s\0' "$cuecard_number"
}

cuecard_offered() {
    cuecard_path=$(command -v "$1" 2>/dev/null) || return
    case ${cuecard_stubs:-} in *" $cuecard_path "*) return 1 ;; esac
}

# Runs a command, and ends it after its share of the time. It is waited for by the shell
# that ends it, so that its number cannot belong to another process by then.
cuecard_watched() {
    "$@" </dev/null 2>/dev/null &
    cuecard_asked=$!
    ({ sleep "$cuecard_share" || sleep "$cuecard_whole_share"; } && kill -9 "$cuecard_asked") \
        </dev/null >/dev/null 2>&1 &
    cuecard_watch=$!
    wait "$cuecard_asked"
    cuecard_status=$?
    kill "$cuecard_watch" 2>/dev/null
    return "$cuecard_status"
}
