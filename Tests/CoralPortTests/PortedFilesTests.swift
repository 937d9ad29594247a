#if Macros
    import Foundation
    import Testing

    @testable import CoralPort

    /// Files as they can be on disk: line breaks, byte order marks, links, and files that cannot be rewritten.
    @Suite final class PortedFilesTests {
        private let folder: URL

        init() throws {
            folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        }

        deinit { try? FileManager.default.removeItem(at: folder) }

        private func write(_ bytes: some Sequence<UInt8>, to name: String) throws {
            let url = folder.appendingPathComponent(name)
            try FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(bytes).write(to: url)
        }

        private func read(_ name: String) throws -> String {
            String(decoding: try Data(contentsOf: folder.appendingPathComponent(name)), as: UTF8.self)
        }

        /// Rewrites the files and returns the omissions.
        private func port() throws -> [String] {
            var package = try PortedPackage(below: folder)
            package.rewrite()
            try package.write()
            return package.omissions
        }

        @Test("Line breaks of Windows and a byte order mark remain")
        func lineBreaks() throws {
            try write("\u{FEFF}import CoreData\r\n@objc class A {}\r\n".utf8, to: "A.swift")
            #expect(try port() == [])
            #expect(
                try read("A.swift")
                    == "\u{FEFF}import CoreData\r\n#if canImport(ObjectiveC)\r\n@objc\r\n#endif\r\nclass A {}\r\n")
        }

        /// As SwiftSync opens a container (`SyncContainer._executeCatchingObjectiveCException`).
        @Test("A class of the package that catches exceptions of Objective-C has a form without exceptions")
        func exceptions() throws {
            let header = "#import <Foundation/Foundation.h>\n@interface Catcher : NSObject\n@end\n"
            try write(header.utf8, to: "Sources/Catcher/include/Catcher.h")
            let code = """
                #import "Catcher.h"
                NSString * const ReasonKey = @"reason";
                NSString * const OtherKey = @"other";
                @implementation Catcher
                + (void)f { @try {} @catch (NSException *e) {} }
                @end

                """
            try write(code.utf8, to: "Sources/Catcher/Catcher.m")
            let opening = """
                import Catcher
                func open() {
                    do {
                        try Catcher.`try`({ make() })
                    } catch {
                        print((error as NSError).userInfo[ReasonKey])
                    }
                }

                """
            try write(opening.utf8, to: "Sources/App/Opening.swift")
            let test = """
                import XCTest
                final class OpeningTests: XCTestCase {
                    func testException() {
                        NSException(name: name, reason: nil).raise()
                    }
                    func testOther() {}
                }

                """
            try write(test.utf8, to: "Tests/AppTests/OpeningTests.swift")
            let expected = """
                \(opening)
                #if !canImport(ObjectiveC)
                /// There are no exceptions of Objective-C here.
                private enum Catcher {
                    static func `try`(_ body: () -> Void) throws { body() }
                }
                private let ReasonKey = "reason"
                #endif

                """
            for _ in 1...2 {
                #expect(try port() == [])
                #expect(try read("Sources/App/Opening.swift") == expected)
                #expect(
                    try read("Tests/AppTests/OpeningTests.swift") == """
                        import XCTest
                        final class OpeningTests: XCTestCase {
                            #if canImport(ObjectiveC)
                            func testException() {
                                NSException(name: name, reason: nil).raise()
                            }
                            #endif
                            func testOther() {}
                        }

                        """)
            }
        }

        private func git(_ arguments: String...) throws {
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            process.arguments =
                ["git", "-C", folder.path, "-c", "user.name=A", "-c", "user.email=a@example.org"] + arguments
            process.standardOutput = FileHandle.nullDevice
            process.standardError = FileHandle.nullDevice
            try process.run()
            process.waitUntilExit()
            #expect(process.terminationStatus == 0)
        }

        @Test("A file with changes that are not committed is not changed; an untracked one is")
        func uncommitted() throws {
            func require() throws {
                var package = try PortedPackage(below: folder)
                package.rewrite()
                #expect(!package.changedFiles.isEmpty)
                try WorkingTree.requireCommitted(package.changedFiles, below: folder)
            }
            try write("@objc class A {}".utf8, to: "Sources/A b.swift")
            try write("class C {}".utf8, to: "C.swift")
            try require()
            try git("init", "--quiet")
            try require()
            try git("add", ".")
            #expect(throws: PortError.self) { try require() }
            try git("commit", "--quiet", "-m", "A")
            try require()
            // A change in a file that is not rewritten does not count.
            try write("class C { }".utf8, to: "C.swift")
            try write("@objc class New {}".utf8, to: "New.swift")
            try require()
            try write("@objc class A { }".utf8, to: "Sources/A b.swift")
            #expect(throws: PortError.self) { try require() }
        }

        @Test("Only files with changes are written, and permissions remain")
        func otherFiles() throws {
            try write("let a = 1".utf8, to: "A.swift")
            try write("@objc class B {}".utf8, to: "B.swift")
            let (a, b) = (folder.appendingPathComponent("A.swift").path, folder.appendingPathComponent("B.swift").path)
            try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: b)
            let date = Date(timeIntervalSince1970: 1_000_000)
            try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: a)
            #expect(try port() == [])
            #expect(try FileManager.default.attributesOfItem(atPath: a)[.modificationDate] as? Date == date)
            #expect(try FileManager.default.attributesOfItem(atPath: b)[.posixPermissions] as? Int == 0o640)
            #expect(
                try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == ["A.swift", "B.swift"])
        }

        @Test("Links, hidden folders and manifests are not read")
        func links() throws {
            try write("@objc class A {}".utf8, to: "Elsewhere/A.txt")
            try write("@objc class A {}".utf8, to: ".build/A.swift")
            try write("@objc class A {}".utf8, to: "Package.swift")
            try FileManager.default.createSymbolicLink(
                at: folder.appendingPathComponent("Link.swift"),
                withDestinationURL: folder.appendingPathComponent("Elsewhere/A.txt"))
            try FileManager.default.createSymbolicLink(
                at: folder.appendingPathComponent("Loop"), withDestinationURL: folder)
            #expect(try port() == [])
            for name in ["Elsewhere/A.txt", ".build/A.swift", "Package.swift"] {
                #expect(try read(name) == "@objc class A {}")
            }
        }

        @Test(
            "Files with syntax errors are named and remain; others are rewritten",
            arguments: [
                "@objc class A { {", "@objc class }", "#if canImport(ObjectiveC)\n@objc class A {}",
                "let a = \"\\(\n@objc class A {}",
                "@objc", "@objc(", "#keyPath(", "extension", "@NSManaged", "import", "\0@objc class A {",
            ])
        func unbalanced(text: String) throws {
            try write(text.utf8, to: "A.swift")
            try write("@objc class B {}".utf8, to: "B.swift")
            let omissions = try port()
            #expect(
                omissions == [
                    folder.appendingPathComponent("A.swift").path + " has syntax errors and is not rewritten."
                ])
            #expect(try read("A.swift") == text)
            #expect(try read("B.swift").hasPrefix("#if"))
        }

        @Test(
            "Deep nesting does not stop the program", arguments: ["(", "[", "{", "!", "class A {", "#if A\n", "\"\\("])
        func nesting(text: String) throws {
            try write(String(repeating: text, count: 20_000).utf8, to: "A.swift")
            #expect(try port().count == 1)
        }

        @Test("A file of ten megabytes is not changed")
        func size() throws {
            try write(String(repeating: "@objc class A {}\n", count: 600_000).utf8, to: "A.swift")
            #expect(
                try port() == [
                    folder.appendingPathComponent("A.swift").path + " is larger than 4 MiB and is not rewritten."
                ])
        }

        @Test("A file that is not UTF-8 stops the program before anything is written")
        func encoding() throws {
            try write("@objc class A {}".utf8, to: "A.swift")
            try write([0x40, 0xFF, 0xFE], to: "B.swift")
            #expect(throws: PortError.self) { try port() }
            #expect(try read("A.swift") == "@objc class A {}")
        }

        /// scout has a module of C that reads registers, SwiftSync one of Objective-C that catches exceptions.
        @Test("What needs Apple's headers in C is compiled on Apple's platforms alone, once")
        func headers() throws {
            let header = "// A hang.\n\n#ifndef HANG_H\n#include <mach/mach.h>\nvoid hang(thread_t thread);\n#endif\n"
            let files = [
                "include/Hang.h": header, "Hang.c": "#include \"Hang.h\"\r\nvoid hang(thread_t thread) {}",
                "Catcher.m": "@implementation Catcher\n@end\n",
                "Conditions.h": "#include <TargetConditionals.h>\n#if TARGET_OS_IOS\n#endif\n",
                "Plain.c": "#include <stdint.h>\n#include \"Plain.h\"\n",
                "Closed.m": "#ifdef __APPLE__\n#import <Foundation/Foundation.h>\n#endif\n",
            ]
            for (name, text) in files { try write(text.utf8, to: "Sources/CHang/" + name) }
            for _ in 0..<2 {
                #expect(try port() == [])
                let ported = try files.keys.reduce(into: [:]) { $0[$1] = try read("Sources/CHang/" + $1) }
                #expect(
                    ported
                        == files.merging([
                            "include/Hang.h":
                                "// A hang.\n\n#ifdef __APPLE__\n#ifndef HANG_H\n#include <mach/mach.h>\nvoid hang(thread_t thread);\n#endif\n#endif\n",
                            "Hang.c":
                                "#ifdef __APPLE__\r\n#include \"Hang.h\"\r\nvoid hang(thread_t thread) {}\n#endif\r\n",
                            "Catcher.m": "#ifdef __APPLE__\n@implementation Catcher\n@end\n#endif\n",
                            "Conditions.h":
                                "#ifdef __APPLE__\n#include <TargetConditionals.h>\n#endif\n#if TARGET_OS_IOS\n#endif\n",
                        ]) { $1 })
            }
        }

        /// INCoreData has a view for previews, and an app that shows it.
        @Test("A file of SwiftUI that only an app needs is compiled on Apple's platforms only")
        func previews() throws {
            let view = "import SwiftUI\npublic struct Preview: View {}\n"
            try write(view.utf8, to: "Sources/Notes/Preview.swift")
            try write("struct Start { let view = Preview() }\n".utf8, to: "Sources/Example/Start.swift")
            try write("import SwiftUI\n@main struct Example: App {}\n".utf8, to: "Sources/Example/Example.swift")
            #expect(try port() == [])
            #expect(try read("Sources/Notes/Preview.swift") == "#if canImport(SwiftUI)\n\(view)#endif\n")
        }

        /// PredicateKit adds initialisers to SwiftUI's wrapper of a fetch, and has a type of its name.
        @Test("A file that extends a type of SwiftUI's is compiled on Apple's platforms only")
        func extendedTypes() throws {
            try write("public struct FetchRequest {}\n".utf8, to: "Sources/Notes/FetchRequest.swift")
            let named = "import SwiftUI\nextension SwiftUI.FetchRequest { init(title: String) {} }\n"
            let own = "import SwiftUI\nextension FetchRequest { init(view: some View) {} }\n"
            try write(named.utf8, to: "Sources/Notes/Named.swift")
            try write(own.utf8, to: "Sources/Notes/Own.swift")
            #expect(try port() == [])
            #expect(try read("Sources/Notes/Named.swift") == "#if canImport(SwiftUI)\n\(named)#endif\n")
            #expect(try read("Sources/Notes/Own.swift") == own)
        }

        @Test("Members are moved within a module only; a name that two classes have is not looked up")
        func modules() throws {
            try write("import CoreData\nclass A: NSManagedObject {}\n".utf8, to: "Sources/One/A.swift")
            let text = "import CoreData\nextension A {\n    override func willSave() {}\n}\n"
            try write(text.utf8, to: "Sources/Two/A.swift")
            #expect(try port() == [])
            #expect(try read("Sources/Two/A.swift") == text)
            try write(text.utf8, to: "Sources/One/B.swift")
            #expect(try port() == [])
            #expect(try read("Sources/One/B.swift") == "import CoreData\n")
            #expect(try read("Sources/One/A.swift").contains("override func willSave() {}"))
        }
    }
#endif
