"""Programs that talk to other machines: reading is medium, sending or logging in is high, and none is contained."""

from __future__ import annotations

import re

from sandbox.classify.call import Call, Judge, path_in
from sandbox.classify.findings import Finding, high, medium
from sandbox.classify.programs.files import written
from sandbox.classify.words import Word

_UPLOADS = re.compile(
    r"--(?:data|form|upload|json|post|body|method|url-q)|-[A-Za-z#]*[dFTX]|--request|--unix-socket|--abstract|--execute|--use-ask"
    r"|--config|-[A-Za-z#]*K"
)
_READ_METHODS = ("GET", "HEAD", "OPTIONS")


def fetch(call: Call) -> list[Finding]:
    """curl and wget: a plain GET is medium, everything that sends is high."""
    to = _host(call)
    found = [medium("needs the network", f"fetches from {to}", contained=False)]
    for i, word in enumerate(call.args):
        following = call.texts[i + 1] if i + 1 < len(call.args) else ""
        if _sends(call.name, word.text, following):
            found.append(high("may send data to another machine", f"sends to {to}", contained=False, at=word))
        if re.fullmatch(
            r"-[A-Za-z#]*[oOP]|--output(-d.*)?|--output-document|--directory-prefix|-c|--cookie-jar|-D", word.text
        ):
            found += written(call.place, [Word(following, word.start, word.end)], "writes") if following else []
        elif re.match(r"-[A-Za-z]*o.|--output=|-O.", word.text) and len(word.text) > 2:
            found += written(call.place, [path_in(word)], "writes")
    return found + call.secrets(call.args)


def _sends(name: str, text: str, following: str) -> bool:
    if not _UPLOADS.match(text):
        return False
    if name == "wget" and re.match(r"-[A-Za-z]*[dFTK]", text):
        return False
    method = re.match(r"(?:-[A-Za-z#]*?X|--request|--method)=?(.*)", text)
    return method is None or (method[1] or following).upper() not in _READ_METHODS


def _host(call: Call) -> str:
    for text in call.texts:
        if found := re.search(r"[a-z]{1,12}://([^/\s?#]{1,80})", text):
            return found[1]
    return next((text[:60] for text in call.texts if not text.startswith("-")), "another machine")


def remote(call: Call) -> list[Finding]:
    """Logging in, copying to or opening a connection with another machine."""
    if call.name in ("ssh", "openssl") and call.texts in (["-V"], ["version"]):
        return []
    if call.name == "rsync" and not any(":" in text for text in call.texts if not text.startswith("-")):
        if any(re.match(r"-[A-Za-z]*e$|--rsh|--del|--remove", text) for text in call.texts):
            return [
                high("deletes files or runs a program named in its options"),
                *written(call.place, call.operands()[-1:], "copies to"),
            ]
        return written(call.place, call.operands()[-1:], "copies to")
    operands = call.operands()
    to = operands[-1 if call.name in ("scp", "rsync", "sftp") else 0].text[:60] if operands else "another machine"
    return [high("leaves this machine", f"connects to {to}", contained=False), *call.secrets(operands)]


def asks(call: Call) -> list[Finding]:
    """Name look-ups and reachability tests."""
    return [medium("needs the network", f"asks for {_host(call)}", contained=False)]


def cloud(call: Call) -> list[Finding]:
    """Tools that act on services with a person's own account."""
    return [high("acts on a service in your name", f"runs {_verb(call)}", contained=False)]


_LOOKS = re.compile(
    r"view|list|status|diff|checks|get|describe|logs|top|explain|version|cluster-info|config|search|browse"
)


def account(call: Call) -> list[Finding]:
    """gh, glab and kubectl: looking is medium, the rest acts in a person's name."""
    if call.texts in (["--version"], ["version"]):
        return []
    verbs = [text for text in call.texts if not text.startswith("-")][:2]
    risky = {"api", "auth", "secret", "secrets", "browse", "set", "set-context"} & set(call.texts)
    if not risky and any(_LOOKS.fullmatch(verb) for verb in verbs):
        return [medium("needs the network", f"runs {_verb(call)}", contained=False)]
    return cloud(call)


def _verb(call: Call) -> str:
    return " ".join([call.name, *call.texts[:2]])[:60]


JUDGES: dict[str, Judge] = {
    **dict.fromkeys("curl wget http https xh aria2c".split(), fetch),
    **dict.fromkeys(
        "ssh scp sftp rsync nc ncat netcat socat telnet ftp lftp tftp rclone mosh sshfs ssh-copy-id autossh mail "
        "mutt sendmail wormhole croc ngrok cloudflared openssl msmtp swaks tailscale".split(),
        remote,
    ),
    **dict.fromkeys("ping ping6 dig host nslookup traceroute tracepath mtr whois nmap arping".split(), asks),
    **dict.fromkeys(
        "aws gcloud az gsutil s3cmd heroku flyctl fly vercel netlify wrangler firebase terraform tofu pulumi ansible "
        "ansible-playbook helm doctl oci linode-cli hcloud eb serverless sls cdk argocd vault op".split(),
        cloud,
    ),
    **dict.fromkeys("gh glab hub kubectl oc".split(), account),
}
