#if Macros
    import Foundation
    import ModelCodeGeneration
    import Testing

    @testable import CoralPort

    /// The rewriting of a manifest, and calls of Foundation.
    @Suite struct ManifestTests {
        private func package(_ files: [String: String], _ body: (URL) throws -> Void) throws {
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent("Manifest-\(UUID().uuidString)")
            defer { try? FileManager.default.removeItem(at: folder) }
            for (name, text) in files {
                let url = folder.appendingPathComponent("App/" + name)
                try FileManager.default.createDirectory(
                    at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
                try Data(text.utf8).write(to: url)
            }
            try body(folder)
        }

        private func rewritten(_ folder: URL) throws -> [String: String] {
            var package = try PortedPackage(below: folder.appendingPathComponent("App"))
            package.rewrite(checkout: folder.appendingPathComponent("coral"))
            try package.write()
            var second = try PortedPackage(below: folder.appendingPathComponent("App"))
            second.rewrite(checkout: folder.appendingPathComponent("coral"))
            #expect(second.changedFiles.map(\.text) == [])
            return Dictionary(
                package.changedFiles.map { ($0.url.lastPathComponent, $0.text) }, uniquingKeysWith: { $1 })
        }

        @Test("Each target gets what it needs")
        func targets() throws {
            let manifest = """
                // swift-tools-version:5.3
                import PackageDescription
                let package = Package(
                    name: "App",
                    targets: [
                        .target(name: "App", exclude: ["Info.plist"]),
                        .target(name: "Plain"),
                        .testTarget(name: "AppTests", dependencies: ["App", .target(name: "Plain")]),
                    ])
                """
            let files = [
                "Package.swift": manifest, "Sources/App/Model.xcdatamodeld/Model.xcdatamodel/contents": "",
                "Sources/App/App.swift":
                    "import Combine\nimport CoreData\nimport OSLog\nlet b = Bundle(for: App.self)\nfinal class App {}\n",
                "Sources/Plain/Plain.swift": "let start = CFAbsoluteTimeGetCurrent()\n",
                "Tests/AppTests/AppTests.swift": "import CoreData\n",
            ]
            try package(files) { folder in
                let changed = try rewritten(folder)
                #expect(
                    changed["Package.swift"] == """
                        // swift-tools-version:5.9
                        import PackageDescription
                        let package = Package(
                            name: "App", dependencies: [.package(name: "coral", path: "../coral"), .package(name: "Apple", path: "../coral/Apple")],
                            targets: [
                                .target(name: "App", dependencies: [.product(name: "CoreData", package: "coral", condition: .when(platforms: [.linux])), .product(name: "os", package: "Apple", condition: .when(platforms: [.linux])), .product(name: "Combine", package: "Apple", condition: .when(platforms: [.linux]))], exclude: ["Info.plist"], plugins: [.plugin(name: "CoralModelPlugin", package: "coral")]),
                                .target(name: "Plain"),
                                .testTarget(name: "AppTests", dependencies: [.product(name: "CoreData", package: "coral", condition: .when(platforms: [.linux])), "App", .target(name: "Plain")]),
                            ])
                        """)
                #expect(
                    changed["App.swift"]
                        == "import Combine\nimport CoreData\nimport os\nlet b = Bundle.module\nfinal class App {}\n")
                #expect(changed["Plain.swift"] == "let start = Date().timeIntervalSinceReferenceDate\n")
            }
        }

        /// DispatchQueue.async has `@preconcurrency` in Apple's SDK since Xcode 15 (swiftlang/swift, pull request 67640).
        @Test("Closures of Dispatch that use variables of their functions are compiled in the mode of Swift 5")
        func capturedVariables() throws {
            let manifest = """
                // swift-tools-version:6.0
                import PackageDescription
                let settings: [SwiftSetting] = []
                let package = Package(name: "App", dependencies: [.package(name: "coral", path: "../coral")], targets: [
                    .target(name: "App", dependencies: [.product(name: "CoreData", package: "coral")], swiftSettings: settings),
                    .target(name: "Plain", dependencies: [.product(name: "CoreData", package: "coral")]),
                    .target(name: "Old", dependencies: [.product(name: "CoreData", package: "coral")], swiftSettings: [.swiftLanguageMode(.v5)]),
                ])
                """
            let captured =
                "import CoreData\nfunc all() {\n    var values: [Int] = []\n    queue.async { values.append(1) }\n}\n"
            let files = [
                "Package.swift": manifest, "Sources/App/App.swift": captured, "Sources/Old/Old.swift": captured,
                "Sources/Plain/Plain.swift":
                    "import CoreData\nvar values: [Int] = []\nfunc all() {\n    let count = 0\n    queue.async { var values = [count]; note.values.append(1) }\n    var values = 1\n}\n",
            ]
            try package(files) { folder in
                let text = try rewritten(folder)["Package.swift"] ?? ""
                #expect(
                    text
                        == manifest.replacing(
                            "swiftSettings: settings",
                            with: "swiftSettings: [.swiftLanguageMode(.v5, .when(platforms: [.linux]))] + settings"))
            }
        }

        @Test(
            "The newest of the package's modes counts",
            arguments: [
                ("[.v6]", true), ("[.v5, .v6]", true), ("[.v5, .version(\"6\")]", true), ("[.v4_2, .v5]", false),
            ])
        func languageModes(modes: String, isSwift6: Bool) throws {
            let manifest = """
                // swift-tools-version:6.0
                import PackageDescription
                let package = Package(name: "App", dependencies: [.package(name: "coral", path: "../coral")], targets: [
                    .target(name: "App", dependencies: [.product(name: "CoreData", package: "coral")]),
                ], swiftLanguageModes: \(modes))
                """
            let source =
                "import CoreData\nfunc all() {\n    var values: [Int] = []\n    queue.async { values.append(1) }\n}\n"
            try package(["Package.swift": manifest, "Sources/App/App.swift": source]) { folder in
                let text = try rewritten(folder)["Package.swift"] ?? ""
                #expect(text.contains("swiftLanguageMode(.v5, .when(platforms: [.linux]))") == isSwift6)
            }
        }

        @Test("Files that a target excludes are no sources of it")
        func excludedFiles() throws {
            let manifest = """
                // swift-tools-version:5.9
                import PackageDescription
                let package = Package(name: "App", targets: [.target(name: "App", exclude: ["Expansions", "Old.swift"])])
                """
            let source = "let start = CFAbsoluteTimeGetCurrent()\n"
            let files = [
                "Package.swift": manifest, "Sources/App/App.swift": source, "Sources/App/Old.swift": source,
                "Sources/App/Older.swift": source, "Sources/App/Expansions/A/A.swift": source,
            ]
            try package(files) { folder in
                let changed = try rewritten(folder)
                #expect(changed.keys.sorted() == ["App.swift", "Older.swift"])
                let app = folder.appendingPathComponent("App")
                #expect(try PortingFinding.findings(below: app).map(\.message) == [])
            }
        }

        @Test("A target that imports SwiftData gets its product, and the package the macros")
        func models() throws {
            let manifest = """
                // swift-tools-version: 5.9
                import PackageDescription
                let package = Package(
                    name: "App",
                    targets: [
                        .target(name: "App"),
                        .testTarget(name: "AppTests", dependencies: ["App"]),
                    ])
                """
            let files = [
                "Package.swift": manifest, "Sources/App/App.swift": "import SwiftData\n",
                "Tests/AppTests/AppTests.swift": "import XCTest\n",
            ]
            try package(files) { folder in
                let files = try rewritten(folder)
                #expect(
                    files["Package.swift"] == """
                        // swift-tools-version:6.1
                        import PackageDescription
                        let package = Package(
                            name: "App", dependencies: [.package(name: "coral", path: "../coral", traits: ["Macros"])],
                            targets: [
                                .target(name: "App", dependencies: [.product(name: "SwiftData", package: "coral", condition: .when(platforms: [.linux]))]),
                                .testTarget(name: "AppTests", dependencies: ["App"]),
                            ], swiftLanguageModes: [.v5])
                        """)
            }
        }

        @Test("The bundle of a class is that of its target's resources, in targets with folders of their own too")
        func bundles() throws {
            let manifest = """
                // swift-tools-version:5.6
                import PackageDescription
                let package = Package(name: "App", targets: [
                    .target(name: "Store", path: "Store/Code"), .target(name: "Plain", path: "Plain"),
                    .testTarget(name: "StoreTests", path: "Store/Tests", resources: [.copy("a.plist")]),
                ])
                """
            let source =
                "import CoreData\n\nfinal class %: Base {\n    let own = Bundle(for: type(of: self))\n    let framework = Bundle(identifier: \"a.b\")!\n"
                + "    let system = Bundle(for: NSManagedObject.self)\n    let other = Bundle(identifier: \"com.apple.CoreData\")!\n"
            let files = [
                "Package.swift": manifest, "Store/Code/Model.xcdatamodeld/Model.xcdatamodel/contents": "",
                "Store/Code/Stack.swift": source.replacing("%", with: "Stack") + "}\n",
                "Plain/Plain.swift": source.replacing("%", with: "Plain") + "}\n",
                "Store/Tests/StackTests.swift": source.replacing("%", with: "StackTests")
                    + "    let others = load(bundle: .init(for: Stack.self), .init(for: Stack.self))\n    let plain = Bundle(for: Plain.self)\n}\n",
            ]
            try package(files) { folder in
                let changed = try rewritten(folder)
                let own =
                    "    let own = Bundle.module\n    let framework = Bundle.module\n"
                    + "    let system = Bundle(for: NSManagedObject.self)\n    let other = Bundle(identifier: \"com.apple.CoreData\")!\n"
                #expect(changed["Stack.swift"] == "import CoreData\n\nfinal class Stack: Base {\n" + own + "}\n")
                #expect(changed["Plain.swift"] == nil)
                #expect(
                    changed["StackTests.swift"] == """
                        import CoreData

                        final class StackTests: Base {
                            let own = Bundle.module
                            let framework = Bundle.module
                            let system = Bundle(for: NSManagedObject.self)
                            let other = Bundle(identifier: "com.apple.CoreData")!
                            #if canImport(ObjectiveC)
                            let others = load(bundle: .init(for: Stack.self), .init(for: Stack.self))
                            #else
                            let others = load(bundle: Bundle.resources(ofModuleOf: Stack.self), .init(for: Stack.self))
                            #endif
                            let plain = Bundle(for: Plain.self)
                        }

                        """)
            }
        }

        @Test("Files that Git still lists and that were deleted do not matter")
        func deletedFiles() throws {
            try package(["Sources/App/A.swift": "let a = CFAbsoluteTimeGetCurrent()\n", "Sources/App/B.swift": ""]) {
                folder in
                let app = folder.appendingPathComponent("App")
                for arguments in [
                    ["init", "-q"], ["add", "."],
                    ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "a"],
                ] {
                    let git = Process()
                    git.executableURL = URL(fileURLWithPath: "/usr/bin/env")
                    git.arguments = ["git"] + arguments
                    git.currentDirectoryURL = app
                    try git.run()
                    git.waitUntilExit()
                }
                try FileManager.default.removeItem(at: app.appendingPathComponent("Sources/App/B.swift"))
                var package = try PortedPackage(below: app)
                package.rewrite()
                #expect(package.changedFiles.map(\.url.lastPathComponent) == ["A.swift"])
                try WorkingTree.requireCommitted(package.changedFiles, below: app)
            }
        }

        @Test("Calls that Foundation has on Apple's platforms only")
        func calls() {
            let source = """
                let a = NSStringFromSelector(#selector(getter: Note.title))
                let b = type(of: self).description()
                let c = note.description()
                let d = bundle.urls(forResourcesWithExtension: "momd", subdirectory: nil)
                let e = bundle.urls(forResourcesWithExtension: "momd", subdirectory: nil)!.first
                let f = bundle.urls(forResourcesWithExtension: "momd", subdirectory: nil)?.first
                let g = URL(string: text) as NSURL? ?? NSURL()
                let h = Logger(subsystem: Bundle.main.bundleIdentifier!, category: "h")
                self.record(XCTIssue(type: .assertionFailure, compactDescription: "a " + b))
                guard let i = bundle.urls(forResourcesWithExtension: "momd", subdirectory: nil) else { fatalError() }
                let j = plugin.bundleIdentifier!
                """
            #expect(
                CoralPortTests.rewritten(source) == [
                    """
                    let a = "title"
                    let b = String(reflecting: type(of: self))
                    let c = note.description()
                    let d = bundle.urls(forResourcesWithExtension: "momd", subdirectory: nil)?.map { $0 as URL }
                    let e = bundle.urls(forResourcesWithExtension: "momd", subdirectory: nil)!.map { $0 as URL }.first
                    let f = bundle.urls(forResourcesWithExtension: "momd", subdirectory: nil)?.map { $0 as URL }.first
                    let g = URL(string: text) as NSURL? ?? NSURL(fileURLWithPath: "/")
                    let h = Logger(subsystem: (Bundle.main.bundleIdentifier ?? ProcessInfo.processInfo.processName), category: "h")
                    #if canImport(ObjectiveC)
                    self.record(XCTIssue(type: .assertionFailure, compactDescription: "a " + b))
                    #else
                    XCTFail("a " + b)
                    #endif
                    guard let i = bundle.urls(forResourcesWithExtension: "momd", subdirectory: nil)?.map({ $0 as URL }) else { fatalError() }
                    let j = plugin.bundleIdentifier!
                    """
                ])
        }

        @Test("The description of a type stays where a type of the package has its own")
        func descriptions() {
            let source = """
                class Shape { class func description() -> String { "a shape" } }
                func text(of shape: Shape) -> String { type(of: shape).description() }
                """
            #expect(CoralPortTests.rewritten(source) == [source])
        }

        /// Skopelos: the tests of an app find its model in the main bundle.
        @Test("A model of another module is searched for in the bundle of that module")
        func modelOfAnotherModule() throws {
            let test =
                "import CoreData\n@testable import App\nlet url = Bundle.main.url(forResource: \"Notes\", withExtension: \"momd\")\n"
            let files = [
                "Package.swift": """
                // swift-tools-version:5.9
                import PackageDescription
                let package = Package(name: "App", targets: [
                    .target(name: "App"), .testTarget(name: "AppTests", dependencies: ["App"]),
                ])
                """,
                "Sources/App/Note.swift": "import CoreData\nstruct List {}\nclass Note: NSManagedObject {}\n",
                "Sources/App/Notes.xcdatamodeld/contents": "",
                "Tests/AppTests/A.swift": test,
                "Tests/AppTests/B.swift": test.replacing("@testable import App\n", with: ""),
                "Tests/AppTests/C.swift": test.replacing("\"Notes\"", with: "\"Tags\""),
            ]
            try package(files) { folder in
                let changed = try rewritten(folder)
                #expect(
                    changed["A.swift"] == """
                        import CoreData
                        @testable import App
                        #if canImport(ObjectiveC)
                        let url = Bundle.main.url(forResource: "Notes", withExtension: "momd")
                        #else
                        let url = Bundle.resources(ofModuleOf: Note.self).url(forResource: "Notes", withExtension: "momd")
                        #endif

                        """)
                #expect(changed["B.swift"] == nil)
                #expect(changed["C.swift"] == nil)
            }
        }

        @Test("Convenience initialisers of managed objects are required")
        func convenience() {
            #expect(
                CoralPortTests.rewritten(
                    """
                    import CoreData
                    class Note: NSManagedObject {
                        convenience init(context: NSManagedObjectContext) { self.init() }
                    }
                    class Draft: Note {}
                    extension Draft {
                        convenience init(context: NSManagedObjectContext) { self.init() }
                    }
                    class Repository: NSObject {
                        convenience init(context: NSManagedObjectContext) { self.init() }
                    }
                    """)[0].components(separatedBy: "required convenience init").count == 3)
        }
    }
#endif
