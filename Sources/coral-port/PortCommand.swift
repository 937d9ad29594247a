#if Macros
    import ArgumentParser
    import AtomicFiles
    import CoralPort
    import Foundation
    import ModelCodeGeneration

    /// `coral-port`: lists and rewrites code of a package that does not compile outside Apple's platforms.
    @main
    struct PortCommand: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "coral-port",
            abstract: "Lists the lines of a package that do not compile outside Apple's platforms, and rewrites them.",
            discussion: """
                Without an option the lines are listed, each with its replacement. With --fix the files are changed, the
                changes are printed as a unified diff, and the lines that remain are listed. What is rewritten also compiles
                on Apple's platforms. Every Swift file below the folder is read, except folders whose names begin with a dot,
                and symbolic links.

                In Package.swift each target that uses Core Data gets the product CoreData, and the plugin CoralModelPlugin
                if it has a model or @NSManaged properties; targets that import os, OSLog or Combine get products of the
                package Apple. The manifest names this package by the path --coral, or that of the checkout in which
                coral-port was built.

                Properties with @NSManaged stay as they are: the plugin CoralModelPlugin of this package implements them. With
                --macro their classes get the macro @Managed instead.

                --fix changes no file that has changes which are not committed to Git; --allow-dirty changes it.

                EXAMPLES:
                  coral-port
                  coral-port --diff
                  coral-port --fix Packages/Bookshelf

                EXIT CODES:
                  0    There are no lines that must change; with --fix, none remain.
                  1    Failure: standard error has the reason.
                  2    There are such lines; with --fix, some remain.
                  64   The arguments are invalid.
                """)

        @Argument(help: "The package's folder, or any other with Swift files in it.", completion: .directory)
        var directory: String = "."

        @Flag(name: .long, help: "Change the files and print a diff.")
        var fix = false

        @Flag(name: .customLong("diff"), help: "Print the diff and change nothing.")
        var printsDiff = false

        @Flag(name: .long, help: "Change files with changes that are not committed.")
        var allowDirty = false

        @Flag(name: .customLong("macro"), help: "Replace @NSManaged by the macro @Managed.")
        var usesMacro = false

        @Option(name: .long, help: "The folder of the package coral, for manifests.", completion: .directory)
        var coral: String?

        @Flag(name: .long, help: "Print the list of lines as JSON.")
        var json = false

        func validate() throws {
            if directory.isEmpty || coral?.isEmpty == true { throw ValidationError("The path of a folder is empty.") }
            if fix && printsDiff { throw ValidationError("--fix prints the diff: omit --diff.") }
            if json && (fix || printsDiff) {
                throw ValidationError("--json prints the list of lines: omit --fix and --diff.")
            }
        }

        func run() throws {
            guard let status = FileStatus(directory) else { throw PortError("There is no folder at \(directory).") }
            guard status.isFolder else {
                throw PortError("There is a file at \(directory). Name the folder that it is in.")
            }
            let folder = URL(fileURLWithPath: directory)
            if fix || printsDiff {
                try rewrite(folder)
            }
            let findings = printsDiff ? [] : try PortingFinding.findings(below: folder)
            if json {
                try PortingReport.write(json: findings)
            } else if !printsDiff {
                for finding in findings { print(finding.message) }
                print(PortingReport.sum(of: findings, remaining: fix))
            }
            if !findings.isEmpty { throw ExitCode(2) }
        }

        /// The folder of this package: the one given, or the one in which the program was built; nil if neither is known.
        private var checkout: URL? {
            if let coral { return URL(fileURLWithPath: coral) }
            var folder = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
            while folder.path.count > 1 {
                if FileManager.default.fileExists(atPath: folder.appendingPathComponent("Sources/CoralPort").path) {
                    return folder
                }
                folder.deleteLastPathComponent()
            }
            return nil
        }

        private func rewrite(_ folder: URL) throws {
            var package = try PortedPackage(below: folder)
            for omission in package.omissions { FileHandle.standardError.write(Data((omission + "\n").utf8)) }
            package.rewrite(usesMacro: usesMacro, checkout: checkout)
            let files = package.changedFiles
            if fix, !allowDirty { try WorkingTree.requireCommitted(files, below: folder) }
            if fix { try package.write() }
            let start = folder.standardizedFileURL.path + "/"
            for file in files {
                let path = file.url.standardizedFileURL.path
                let name = path.hasPrefix(start) ? String(path.dropFirst(start.count)) : path
                print(UnifiedDiff(from: file.original, to: file.text, path: name).text, terminator: "")
            }
            for advice in package.advice { print(advice) }
        }
    }
#else
    /// Reports that the program needs the trait.
    @main
    struct PortCommand {
        static func main() {
            print("coral-port is built with the trait Macros: swift run --traits Macros coral-port")
        }
    }
#endif
