#if PostgreSQL
    import Foundation
    import Synchronization

    /// A socket that forwards to the server's socket, and cuts connections.
    final class SocketProxy: Sendable {
        /// When a connection is cut.
        enum Cut: Sendable, Equatable {
            /// Before the server receives the next commit.
            case beforeCommit
            /// When the server has executed the next commit, and before the client receives the answer.
            case afterCommit
            /// When the server has refused a transaction whose commit was cut, and before the client receives the answer.
            case afterRefusal
            /// When a number of further bytes have passed in either direction.
            case bytes(Int)
        }

        let folder: URL
        private let target: String
        private let listener: Int32
        private let coming = Mutex<[Cut]>([])
        private let cutCount = Atomic(0)

        /// The number of connections that were cut.
        var cuts: Int { cutCount.load(ordering: .relaxed) }

        /// The folder of the socket, escaped for a URL.
        var host: String { folder.path.replacingOccurrences(of: "/", with: "%2F") }

        /// - Parameter target: The path of the server's socket.
        init(to target: String) throws {
            self.target = target
            folder = FileManager.default.temporaryDirectory.appendingPathComponent("p\(UInt32.random(in: 0...99999))")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
            let bound = Self.withAddress(folder.appendingPathComponent(".s.PGSQL.5432").path) { [listener] in
                bind(listener, $0, $1)
            }
            guard bound == 0, listen(listener, 16) == 0 else { throw POSIXError(.EADDRNOTAVAIL) }
            Thread.detachNewThread { [weak self, listener] in
                while true {
                    let client = accept(listener, nil, nil)
                    guard client >= 0 else { return }
                    self?.serve(client)
                }
            }
        }

        deinit {
            shutdown(listener, Int32(SHUT_RDWR))
            close(listener)
            try? FileManager.default.removeItem(at: folder)
        }

        /// Cuts a connection once for each, one after the other.
        func cut(_ cuts: Cut...) { coming.withLock { $0 = cuts } }

        /// Cuts the connection that carries a byte, counted from now; nil for no further cut.
        func cut(after count: Int?) { coming.withLock { $0 = count.map { [.bytes($0)] } ?? [] } }

        /// The bytes that are still passed on, and whether the connection is cut after them.
        private func pass(_ bytes: ArraySlice<UInt8>, fromClient: Bool, _ state: Connection) -> (
            ArraySlice<UInt8>, Bool
        ) {
            let hasCommit = fromClient && state.hasCommit(bytes)
            return coming.withLock { coming in
                switch coming.first {
                case .bytes(let left)? where left <= bytes.count:
                    coming.removeFirst()
                    return (bytes.prefix(left), true)
                case .bytes(let left)?: coming[0] = .bytes(left - bytes.count)
                case .beforeCommit? where hasCommit:
                    coming.removeFirst()
                    return ([], true)
                case .afterCommit? where hasCommit, .afterRefusal? where fromClient && Self.hasRefusal(bytes):
                    coming.removeFirst()
                    state.isAnswerDropped.store(true, ordering: .relaxed)
                default: break
                }
                // The answer shows that the commit has been executed.
                if !fromClient, state.isAnswerDropped.load(ordering: .relaxed) { return ([], true) }
                return (bytes, false)
            }
        }

        private static func hasRefusal(_ bytes: ArraySlice<UInt8>) -> Bool {
            Data(bytes).range(of: Data("WITH refused".utf8)) != nil
        }

        private static func withAddress<Result>(
            _ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
        ) -> Result {
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8.prefix(107)) + [0]) }
            return withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
                }
            }
        }

        private func serve(_ client: Int32) {
            let server = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
            guard Self.withAddress(target, { connect(server, $0, $1) }) == 0 else {
                close(client)
                return
            }
            let state = Connection()
            for isFromClient in [true, false] {
                let (source, destination) = isFromClient ? (client, server) : (server, client)
                Thread.detachNewThread { [self] in
                    copy(from: source, to: destination, fromClient: isFromClient, state)
                    for socket in [client, server] { shutdown(socket, Int32(SHUT_RDWR)) }
                    // The second thread closes what both use.
                    if state.endedCount.add(1, ordering: .relaxed).newValue == 2 {
                        for socket in [client, server] { close(socket) }
                    }
                }
            }
        }

        private final class Connection: Sendable {
            let isAnswerDropped = Atomic(false)
            let endedCount = Atomic(0)
            /// The name of the prepared statement that commits.
            private let commit = Mutex<Data?>(nil)

            /// Whether messages of the client contain a commit: in a script, or as a statement, whose text is sent once and whose name
            /// then stands for it.
            func hasCommit(_ bytes: ArraySlice<UInt8>) -> Bool {
                let bytes = Data(bytes)
                // A transaction also begins with the word, as READ COMMITTED.
                if bytes.range(of: Data("COMMIT; ".utf8)) != nil { return true }
                return commit.withLock { commit in
                    if let text = bytes.range(of: Data("\0COMMIT\0".utf8)) {
                        // Before the name stands the length of the message.
                        let start = bytes[..<text.lowerBound].lastIndex { $0 < 0x20 }.map { $0 + 1 }
                        commit = bytes[(start ?? 0)..<text.lowerBound]
                        return true
                    }
                    return commit.map { !$0.isEmpty && bytes.range(of: Data([0]) + $0 + Data([0])) != nil } ?? false
                }
            }
        }

        private func copy(from source: Int32, to destination: Int32, fromClient: Bool, _ state: Connection) {
            var buffer = [UInt8](repeating: 0, count: 65536)
            while true {
                let count = read(source, &buffer, buffer.count)
                guard count > 0 else { return }
                let (bytes, isCut) = pass(buffer[..<count], fromClient: fromClient, state)
                var rest = bytes
                while !rest.isEmpty {
                    let written = rest.withUnsafeBytes {
                        send(destination, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                    }
                    guard written > 0 else { return }
                    rest = rest.dropFirst(written)
                }
                if isCut {
                    cutCount.add(1, ordering: .relaxed)
                    return
                }
            }
        }
    }
#endif
