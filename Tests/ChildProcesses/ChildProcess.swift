import Foundation

/// A process that a test starts and waits for.
///
/// Foundation's `Process` is not used: on a busy machine it may never report the end of a short-lived child.
package struct ChildProcess {
    private let id: pid_t

    /// Starts a program. The streams are files; those not given are the test process's own.
    package init(_ program: URL, _ arguments: [String], input: URL? = nil, output: URL? = nil, errors: URL? = nil)
        throws
    {
        #if canImport(Darwin)
            var actions: posix_spawn_file_actions_t?
            var attributes: posix_spawnattr_t?
        #else
            var actions = posix_spawn_file_actions_t()
            var attributes = posix_spawnattr_t()
        #endif
        posix_spawn_file_actions_init(&actions)
        posix_spawnattr_init(&attributes)
        defer {
            posix_spawn_file_actions_destroy(&actions)
            posix_spawnattr_destroy(&attributes)
        }
        if let input { posix_spawn_file_actions_addopen(&actions, 0, input.path, O_RDONLY, 0) }
        for case (let number, let file?) in [(Int32(1), output), (2, errors)] {
            posix_spawn_file_actions_addopen(&actions, number, file.path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        }
        // Test threads block signals; a child of a shell does not.
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        posix_spawnattr_setflags(&attributes, numericCast(POSIX_SPAWN_SETSIGMASK))

        var words = ([program.path] + arguments).map { strdup($0) } + [nil]
        var environment = ProcessInfo.processInfo.environment.map { strdup("\($0)=\($1)") } + [nil]
        defer { for text in words + environment { free(text) } }
        var started: pid_t = 0
        let code = posix_spawn(&started, program.path, &actions, &attributes, &words, &environment)
        guard code == 0 else { throw POSIXError(POSIXErrorCode(rawValue: code) ?? .EINVAL) }
        id = started
    }

    /// Kills the process.
    package func kill() { send(SIGKILL) }

    /// Sends the process a signal.
    package func send(_ signal: Int32) { _ = Foundation.kill(id, signal) }

    /// Whether the process has ended. It must still be waited for.
    package var hasEnded: Bool {
        var information = siginfo_t()
        let found = waitid(P_PID, id_t(id), &information, WEXITED | WNOHANG | WNOWAIT)
        return found == 0 && information.si_signo != 0
    }

    /// Waits for the end. Returns the exit code, or the signal that has ended the process.
    @discardableResult
    package func wait() -> Int32 {
        var status: Int32 = 0
        while waitpid(id, &status, 0) < 0, errno == EINTR {}
        let signal = status & 0x7F
        return signal == 0 ? (status >> 8) & 0xFF : signal
    }
}
