#if Macros
    import Foundation

    /// The state of files in Git.
    package enum WorkingTree {
        /// Throws ``PortError`` if one of the files below a folder has changes that are not committed to Git. A file that Git does
        /// not track has no such changes. Cost: two processes.
        package static func requireCommitted(_ files: [any RewrittenFile], below folder: URL) throws {
            let changed = changedFiles(below: folder)
            guard let file = files.first(where: { changed.contains($0.url.resolvingSymlinksInPath().path) }) else {
                return
            }
            throw PortError(
                "\(file.url.path) has changes that are not committed. Commit them, or use --allow-dirty.")
        }

        /// The files of a folder with changes that are not committed, as absolute paths. Empty if the folder is not in a Git
        /// repository or there is no Git. Cost: one process.
        static func changedFiles(below folder: URL) -> Set<String> {
            guard let root = git(["rev-parse", "--show-toplevel"], in: folder) else { return [] }
            let path = root.hasSuffix("\n") ? String(root.dropLast()) : root
            guard
                let status = git(
                    ["status", "--porcelain", "-z", "--untracked-files=no", "--no-renames", "."], in: folder)
            else { return [] }
            return Set(
                status.split(separator: "\0").map { entry in
                    URL(fileURLWithPath: path).appendingPathComponent(String(entry.dropFirst(3)))
                        .resolvingSymlinksInPath().path
                })
        }

        private static func git(_ arguments: [String], in folder: URL) -> String? {
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            process.arguments = ["git"] + arguments
            process.currentDirectoryURL = folder
            let output = Pipe()
            process.standardOutput = output
            process.standardError = FileHandle.nullDevice
            guard (try? process.run()) != nil else { return nil }
            let data = output.fileHandleForReading.readDataToEndOfFile()
            process.waitUntilExit()
            return process.terminationStatus == 0 ? String(decoding: data, as: UTF8.self) : nil
        }
    }

    /// A reason why a package cannot be ported, as a sentence.
    package struct PortError: Error, LocalizedError, CustomStringConvertible {
        package let description: String

        package init(_ description: String) { self.description = description }

        package var errorDescription: String? { description }
    }
#endif
