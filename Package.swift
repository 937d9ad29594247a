// swift-tools-version: 6.1
import CompilerPluginSupport
import PackageDescription

// The package has two parts. The toolkit (`Coral`) is written against Core Data's public API. On Apple's platforms it
// uses the system's framework; elsewhere the engine (`ManagedObjects`, re-exported by the facade `CoreData`) is built.
// No module may be called `CoreData` on Apple's platforms: it would shadow the framework.
#if canImport(Darwin)
    let engineIsBuilt = false
#else
    let engineIsBuilt = true
#endif

/// A module of swift-syntax, which takes minutes to build: it is a dependency only with the trait for macros.
func syntax(_ name: String) -> Target.Dependency {
    .product(name: name, package: "swift-syntax", condition: .when(traits: ["Macros"]))
}

// MARK: - Targets, in the order of their dependencies

var targets: [Target] = [
    // The one form of errors: code, sentence, place.
    .target(name: "CodedErrors"),
    // Atomic writing of files, for all targets that write files.
    .target(name: "AtomicFiles"),
    // XML as events, read on request.
    .target(name: "XMLReading", dependencies: ["CodedErrors"]),
    // Property lists with UIDs and keyed archives, as plain values: no class is ever instantiated.
    .target(name: "KeyedArchives", dependencies: ["CodedErrors", "XMLReading"]),
    // The predicate language: tree, parser, printer, evaluator.
    .target(name: "PredicateLanguage"),
    // DEFLATE, for the copy of the model in a store.
    .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
    // Models as plain values, in every form that Apple's tools write. A separate target, because the build plugin reads
    // models and must not link SQLite.
    .target(
        name: "ModelFiles",
        dependencies: ["AtomicFiles", "CodedErrors", "KeyedArchives", "PredicateLanguage", "XMLReading", "CZlib"]),
    // Graph records and the documents that contain them, without managed objects.
    .target(name: "GraphDocuments", dependencies: ["AtomicFiles", "CodedErrors", "KeyedArchives", "XMLReading"]),
    // The entity classes of a model, as Swift text.
    .target(name: "ModelCodeGeneration", dependencies: ["ModelFiles"]),
    // The tool of the build plugin: compiles a model and writes its classes, without stores.
    .executableTarget(name: "coral-modelc", dependencies: ["ModelFiles", "ModelCodeGeneration"]),
    .plugin(name: "CoralModelPlugin", capability: .buildTool(), dependencies: ["coral-modelc"]),
    // The macros for hand-written classes, of entities and of plain objects: the compiler plugin, and the declarations.
    // Empty without the trait.
    .macro(
        name: "ManagedMacroExpansion",
        dependencies: ["SwiftDiagnostics", "SwiftSyntax", "SwiftSyntaxMacros", "SwiftCompilerPlugin"].map(syntax)),
    .target(
        name: "ManagedMacros",
        dependencies: ["ManagedMacroExpansion"]
            + ["Coral", "CoralPlainObjects"].map { .target(name: $0, condition: .when(traits: ["Macros"])) }),
    // The rewriting of a package's sources for other platforms, and its program. Empty without the trait.
    .target(
        name: "CoralPort",
        dependencies: ["AtomicFiles", "ModelCodeGeneration", "ModelFiles"] + ["SwiftSyntax", "SwiftParser"].map(syntax)),
    .executableTarget(
        name: "coral-port",
        dependencies: [
            "AtomicFiles", "CoralPort", "ModelCodeGeneration",
            .product(name: "ArgumentParser", package: "swift-argument-parser"),
        ]),
]

var products: [Product] = [
    .plugin(name: "CoralModelPlugin", targets: ["CoralModelPlugin"]),
    .executable(name: "coral-modelc", targets: ["coral-modelc"]),
    .library(name: "ManagedMacros", targets: ["ManagedMacros"]),
    .executable(name: "coral-port", targets: ["coral-port"]),
]

/// A library of servers' programs: a dependency only with the trait for their logs, metrics and traces.
func server(_ name: String, _ package: String) -> Target.Dependency {
    .product(name: name, package: package, condition: .when(traits: ["Observability"]))
}

/// The client of PostgreSQL, which needs libpq: a dependency only with the trait.
let postgreSQL: [Target.Dependency] = [.target(name: "PostgreSQLClient", condition: .when(traits: ["PostgreSQL"]))]

if engineIsBuilt {
    targets += [
        // libpq, the client library of PostgreSQL.
        .systemLibrary(name: "CPostgreSQL", providers: [.apt(["libpq-dev"])]),
        // Connections, results and notifications of PostgreSQL, without Core Data. Empty without the trait.
        .target(
            name: "PostgreSQLClient",
            dependencies: [.target(name: "CPostgreSQL", condition: .when(traits: ["PostgreSQL"]))]),
        // What the engine and the stores share: memory, files, the interruption and the observation of their work.
        .target(name: "StoreSupport", dependencies: ["KeyedArchives"]),
        // Statements as values, and their dialects: no database, no class of Core Data.
        .target(name: "SQLStatements", dependencies: ["PredicateLanguage", "StoreSupport"]),
        // The rows of a damaged file, read from its pages without SQLite.
        .target(name: "StoreRescue", dependencies: ["AtomicFiles", "SQLStatements"]),
        // The codes of Core Data's errors.
        .target(name: "CoreDataErrors", dependencies: ["AtomicFiles"]),
        // Connections to the SQLite file of a store, its companion files, and their replacement.
        .target(
            name: "SQLiteConnections",
            dependencies: [
                "AtomicFiles", "CoreDataErrors", "PredicateLanguage", "SQLStatements", "StoreSupport",
                .product(name: "GRDB", package: "GRDB.swift"), .product(name: "GRDBSQLite", package: "GRDB.swift"),
            ]),
        // What Foundation lacks outside Apple's platforms: predicates, value transformers, key-value observing.
        .target(name: "FoundationAdditions", dependencies: ["KeyedArchives", "PredicateLanguage"]),
        // Every public NS… type, and the engine, without a database.
        .target(
            name: "ManagedObjects",
            dependencies: [
                "AtomicFiles", "CoreDataErrors", "FoundationAdditions", "KeyedArchives", "ModelFiles",
                "PredicateLanguage", "StoreSupport",
            ]),
        // The stores whose rows are in memory: NSInMemoryStoreType, NSXMLStoreType, archives, NSAtomicStore. The engine finds them in
        // the program.
        .target(
            name: "MemoryStores",
            dependencies: [
                "AtomicFiles", "CoreDataErrors", "FoundationAdditions", "KeyedArchives", "ManagedObjects",
                "PredicateLanguage", "StoreSupport", "XMLReading",
            ]),
        // The migration of stores, by objects and in stages. The engine finds it in the program.
        .target(
            name: "StoreMigrations",
            dependencies: [
                "AtomicFiles", "CoreDataErrors", "FoundationAdditions", "ManagedObjects", "MemoryStores", "ModelFiles",
                "PredicateLanguage",
            ]),
        // Results of fetches that follow the changes of a context: NSFetchedResultsController, and streams.
        .target(
            name: "FollowedResults",
            dependencies: ["CoreDataErrors", "FoundationAdditions", "ManagedObjects", "PredicateLanguage"]),
        // The contexts of a server's requests.
        .target(name: "ContextPools", dependencies: ["CoreDataErrors", "ManagedObjects", "StoreSupport"]),
        // The stores in SQLite files and in PostgreSQL. The engine finds them in the program.
        .target(
            name: "SQLStores",
            dependencies: [
                "AtomicFiles", "CoreDataErrors", "FoundationAdditions", "ManagedObjects", "ModelFiles",
                "PredicateLanguage", "SQLiteConnections", "SQLStatements", "StoreSupport",
                .product(name: "GRDB", package: "GRDB.swift"), .product(name: "GRDBSQLite", package: "GRDB.swift"),
            ] + postgreSQL),
        // Checks, examinations and rescue of stores in databases.
        .target(
            name: "StoreTools",
            dependencies: [
                "AtomicFiles", "CoreDataErrors", "ManagedObjects", "ModelFiles", "PredicateLanguage",
                "SQLiteConnections", "SQLStatements", "SQLStores", "StoreRescue",
                .product(name: "GRDB", package: "GRDB.swift"), .product(name: "GRDBSQLite", package: "GRDB.swift"),
            ] + postgreSQL),
        // The module `CoreData` outside Apple's platforms.
        .target(
            name: "CoreData",
            dependencies: [
                "ContextPools", "CoreDataErrors", "FollowedResults", "FoundationAdditions", "ManagedObjects",
                "MemoryStores", "SQLStores", "StoreMigrations", "StoreSupport",
            ]),
        // The macros of SwiftData's models. Empty without the trait.
        .macro(
            name: "SwiftDataMacros",
            dependencies: ["SwiftDiagnostics", "SwiftSyntax", "SwiftSyntaxMacros", "SwiftCompilerPlugin"].map(syntax)),
        // The module `SwiftData` outside Apple's platforms: models over the engine's contexts and rows.
        .target(
            name: "SwiftData",
            dependencies: [
                "CoreData", "ManagedObjects", "ModelFiles", "PredicateLanguage", "StoreSupport", "SwiftDataMacros",
            ]),
        // The toolkit for SwiftData's models.
        .target(name: "CoralModels", dependencies: ["CodedErrors", "Coral", "SwiftData"]),
        // Stores in PostgreSQL. Empty without the trait.
        .target(name: "CoralPostgreSQL", dependencies: ["CoreData"]),
        // Logs, metrics, traces and the shutdown of a server's program. Empty without the trait.
        .target(
            name: "CoralObservability",
            dependencies: [
                "CoreData", "StoreSupport",
                server("Logging", "swift-log"), server("CoreMetrics", "swift-metrics"),
                server("Tracing", "swift-distributed-tracing"),
                server("ServiceLifecycle", "swift-service-lifecycle"),
            ]),
    ]
    products += [
        .library(name: "CoreData", targets: ["CoreData"]),
        .library(name: "SwiftData", targets: ["SwiftData"]),
        .library(name: "CoralModels", targets: ["CoralModels", "CoralRows"]),
        .library(name: "CoralPostgreSQL", targets: ["CoralPostgreSQL"]),
        .library(name: "CoralObservability", targets: ["CoralObservability"]),
    ]
}

/// Core Data: the framework if there is one, else the facade.
let coreData: [Target.Dependency] = engineIsBuilt ? ["CoreData"] : []
/// The engine below the facade, for tools that use more than Core Data's public API.
let engine: [Target.Dependency] = engineIsBuilt ? ["ManagedObjects", "StoreTools"] : []
/// The toolkit's work on rows, which every program with the toolkit links.
let rows = engineIsBuilt ? ["CoralRows"] : []
/// The modules of the engine that the command uses itself.
let commandEngine: [Target.Dependency] =
    engineIsBuilt ? ["CoralRows", "SQLiteConnections", "SQLStatements", "SQLStores", "StoreRescue"] : []
/// The condition of the sources that use it.
let engineSettings: [SwiftSetting] = engineIsBuilt ? [.define("STORE_ENGINE")] : []

targets += [
    // The toolkit, on Core Data's public API.
    .target(
        name: "Coral",
        dependencies: coreData + [
            "AtomicFiles", "CodedErrors", "GraphDocuments", "KeyedArchives", "ModelFiles", "XMLReading",
        ])
]
targets += [
    // Plain Swift objects and values in documents, and Codable values that contain managed objects.
    .target(
        name: "CoralPlainObjects", dependencies: coreData + ["CodedErrors", "Coral", "GraphDocuments"]),
    // Values of reference types that are changed in place, and conflicts of values between contexts.
    .target(name: "CoralValues", dependencies: coreData + ["Coral"]),
    // The migration of stores over several versions of a model, its rehearsal, and the removal of duplicates.
    .target(name: "CoralMigration", dependencies: coreData + ["Coral", "GraphDocuments", "ModelFiles"]),
]
if engineIsBuilt {
    targets += [
        // What the toolkit does on the rows of the engine's stores, without objects. The toolkit finds it in the program.
        .target(
            name: "CoralRows",
            dependencies: [
                "Coral", "CoreData", "GraphDocuments", "ManagedObjects", "SQLStores", "SQLiteConnections", "XMLReading",
            ])
    ]
}
targets += [
    // What the command and other tools need and apps do not: checks, diagrams, pages, subsets, schemas, conversion.
    .target(
        name: "CoralTools",
        dependencies: engine + [
            "CodedErrors", "Coral", "CoralMigration", "CZlib", "GraphDocuments", "ModelCodeGeneration", "ModelFiles",
            "PredicateLanguage",
            .product(name: "GRDB", package: "GRDB.swift"), .product(name: "GRDBSQLite", package: "GRDB.swift"),
        ], swiftSettings: engineSettings),
    // Random graphs of any model, and checks of their properties, for tests of programs that use the toolkit.
    .target(name: "CoralTesting", dependencies: ["Coral"]),
    // The widths of characters in a terminal, by the C library.
    .target(name: "CCellWidth"),
    // The command `coral`. Its target's name differs from the library's by more than case, because file names on macOS
    // are case-insensitive.
    .executableTarget(
        name: "CoralCommand",
        dependencies: engine + commandEngine + [
            "AtomicFiles", "CCellWidth", "Coral", "CoralMigration", "CoralTesting", "CoralTools", "ModelCodeGeneration",
            "ModelFiles",
            "PredicateLanguage",
            .product(name: "ArgumentParser", package: "swift-argument-parser"),
            .product(name: "GRDB", package: "GRDB.swift"),
            // The HTTP server of `coral serve`.
            .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOHTTP1", package: "swift-nio"),
            .product(name: "NIOPosix", package: "swift-nio"),
        ], swiftSettings: engineSettings),
]
products += [
    .library(name: "Coral", targets: ["Coral"] + rows),
    .library(name: "CoralPlainObjects", targets: ["CoralPlainObjects"] + rows),
    .library(name: "CoralValues", targets: ["CoralValues"] + rows),
    .library(name: "CoralMigration", targets: ["CoralMigration"] + rows),
    .library(name: "CoralTools", targets: ["CoralTools"] + rows),
    .library(name: "CoralTesting", targets: ["CoralTesting"] + rows),
    .executable(name: "coral", targets: ["CoralCommand"]),
]

// MARK: - Examples

targets += [
    .target(name: "NotesModel", dependencies: coreData, path: "Examples/NotesModel"),
    // Creates the store of the demonstration.
    .executableTarget(
        name: "MakeExampleStore", dependencies: coreData + ["NotesModel"], path: "Examples/MakeExampleStore"),
    // A Core Data program as in any tutorial, without the toolkit.
    .executableTarget(
        name: "Notes", dependencies: coreData + ["NotesModel"], path: "Examples/Notes", exclude: ["expected.txt"]),
]

/// One small program for each task of the toolkit. `Scripts/check-examples` compares their output.
let exampleNames = [
    "FirstQuestions", "SerialiseNotes", "ImportNotes", "CopyNotes", "RememberNotes", "ChangeInPlace", "ShareSubset",
    "OpenWithoutModel",
]
targets += exampleNames.map { name in
    .executableTarget(
        name: name,
        dependencies: ["Coral", "CoralTools", "CoralValues", "NotesModel"] + rows.map { .target(name: $0) },
        path: "Examples/\(name)",
        exclude: ["expected.txt"])
}

// MARK: - Tests

targets += [
    .testTarget(name: "XMLReadingTests", dependencies: ["XMLReading"]),
    .testTarget(name: "KeyedArchivesTests", dependencies: ["KeyedArchives"]),
    .testTarget(name: "PredicateLanguageTests", dependencies: ["PredicateLanguage"]),
    .testTarget(name: "ModelFilesTests", dependencies: ["ModelFiles", "KeyedArchives"]),
    .testTarget(name: "GraphDocumentsTests", dependencies: ["AtomicFiles", "GraphDocuments", "KeyedArchives"]),
    .testTarget(name: "ModelCodeGenerationTests", dependencies: ["ModelCodeGeneration", "ModelFiles"]),
    .testTarget(
        name: "CoralTests",
        dependencies: [
            "Coral", "CoralMigration", "CoralPlainObjects", "CoralTesting", "CoralTools", "CoralValues",
            "NotesContexts", "NotesModel",
        ]
            + rows.map { .target(name: $0) } + (engineIsBuilt ? [.product(name: "GRDB", package: "GRDB.swift")] : [])),
    // What users see: without access to declarations of the package.
    .testTarget(name: "GuessTests", dependencies: ["Coral", "CoralPlainObjects", "NotesModel"], packageAccess: false),
    .testTarget(
        name: "CoralPlainObjectsTests",
        dependencies: ["Coral", "CoralPlainObjects", "GraphDocuments", "NotesContexts"] + rows.map { .target(name: $0) }
    ),
    .testTarget(
        name: "CoralMigrationTests",
        dependencies: ["Coral", "CoralMigration", "NotesContexts"] + rows.map { .target(name: $0) }),
    .testTarget(
        name: "CoralToolsTests",
        dependencies: [
            "Coral", "CoralTesting", "CoralTools", "NotesContexts", "NotesModel",
            .product(name: "GRDB", package: "GRDB.swift"),
        ]),
    // Contexts with the model of the examples, for tests.
    .target(name: "NotesContexts", dependencies: ["Coral", "NotesModel"], path: "Tests/NotesContexts"),
    .testTarget(
        name: "CoralCommandTests",
        dependencies: (engineIsBuilt ? ["StoreRescue"] : []) + [
            "Coral", "CoralCommand", "CoralMigration", "CoralTesting", "CoralTools", "NotesModel", "ChildProcesses",
            .product(name: "GRDB", package: "GRDB.swift"),
            .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOEmbedded", package: "swift-nio"),
            .product(name: "NIOHTTP1", package: "swift-nio"),
        ]),
    // Starts programs in tests.
    .target(name: "ChildProcesses", path: "Tests/ChildProcesses"),
]

if engineIsBuilt {
    /// A target of the engine's and its stores' tests, which look into all their modules.
    func engineTests(_ name: String, _ others: [Target.Dependency] = ["EngineTesting", "ChildProcesses"]) -> Target {
        .testTarget(
            name: name,
            dependencies: [
                "AtomicFiles", "ContextPools", "CoreDataErrors", "FollowedResults", "FoundationAdditions",
                "ManagedObjects", "MemoryStores", "ModelFiles", "SQLStores", "SQLiteConnections", "SQLStatements",
                "StoreMigrations", "StoreRescue", "StoreSupport", "StoreTools",
                .product(name: "GRDB", package: "GRDB.swift"), .product(name: "GRDBSQLite", package: "GRDB.swift"),
            ] + postgreSQL + others)
    }
    targets += [
        // Models, stacks and stores that these tests share.
        engineTests("EngineTesting", []),
        engineTests("ManagedObjectsTests"),
        engineTests("MemoryStoresTests"),
        engineTests("SQLStoresTests"),
        engineTests("StoreMigrationsTests"),
        engineTests("StoreToolsTests"),
        engineTests("FollowedResultsTests"),
        engineTests("ContextPoolsTests"),
        .testTarget(name: "SQLStatementsTests", dependencies: ["PredicateLanguage", "SQLStatements"]),
        .testTarget(name: "SwiftDataTests", dependencies: ["ManagedObjects", "PredicateLanguage", "SwiftData"]),
        // Depends on Core Data only, so that the same tests run on Apple's framework.
        .testTarget(
            name: "ParityTests",
            dependencies: ["CoreData", .target(name: "CoralPostgreSQL", condition: .when(traits: ["PostgreSQL"]))]),
        // Tests of files written by Apple's tools.
        .testTarget(
            name: "CorpusTests",
            dependencies: [
                "Coral", "CoralCommand", "CoralMigration", "CoralTesting", "CoralTools",
                .product(name: "GRDB", package: "GRDB.swift"),
            ]),
        // Empty without the trait.
        .testTarget(
            name: "CoralObservabilityTests",
            dependencies: [
                "CoralObservability", "CoreData", server("InMemoryLogging", "swift-log"),
                server("MetricsTestKit", "swift-metrics"), server("InMemoryTracing", "swift-distributed-tracing"),
                server("ServiceLifecycleTestKit", "swift-service-lifecycle"),
            ]),
        // Migrates a store in stages, for a test that kills it.
        .executableTarget(
            name: "staged-migration", dependencies: ["CoreData"], path: "Tests/StagedMigrationProcess"),
        // An asynchronous command and server, for a test that runs them with checks of contexts' queues.
        .executableTarget(
            name: "async-program",
            dependencies: [
                "CoreData", .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"), .product(name: "NIOPosix", package: "swift-nio"),
            ],
            path: "Tests/AsyncProgram"),
        // Counts the allocations of operations, in a separate process with a replaced malloc. Its test starts the
        // program and does not depend on it, because otherwise malloc would be replaced in all tests.
        .target(name: "AllocationCounter", path: "Tests/AllocationCounter"),
        .executableTarget(
            name: "allocation-counts",
            dependencies: [
                "Coral", "CoralRows", "CoreData", "AllocationCounter", "ModelFiles",
                .product(name: "GRDB", package: "GRDB.swift"),
            ],
            path: "Tests/AllocationCounts"),
        // Measures the reader and the writer of JSON, which are not public, for Benchmarks/README.md.
        .executableTarget(
            name: "json-parts",
            dependencies: ["GraphDocuments", .product(name: "GRDB", package: "GRDB.swift")], path: "Tests/JSONParts"),
        .testTarget(
            name: "AllocationTests", dependencies: ["ChildProcesses"], exclude: ["allocations.txt"]),
    ]
}

// For a test target that links a macro, SwiftPM compiles the whole package a second time, for the host. The tests of
// the macros are therefore separate and built only with a variable, which `Scripts/test-packages` sets.
if Context.environment["CORAL_TEST_MACROS"] != nil {
    targets.removeAll { $0.type == .test }
    targets += [
        .testTarget(
            name: "ManagedMacrosTests",
            dependencies: ["ManagedMacroExpansion"]
                + ["SwiftIfConfig", "SwiftSyntax", "SwiftSyntaxMacrosTestSupport"].map(syntax)),
        .testTarget(name: "CoralPortTests", dependencies: ["CoralPort", "ModelCodeGeneration"]),
    ]
    if engineIsBuilt {
        targets.append(
            .testTarget(
                name: "SwiftDataMacrosTests",
                dependencies: ["SwiftDataMacros"]
                    + ["SwiftParser", "SwiftSyntax", "SwiftSyntaxMacrosTestSupport"].map(syntax)))
    }
}

let package = Package(
    name: "coral",
    platforms: [.macOS(.v12), .iOS(.v15), .tvOS(.v15), .watchOS(.v8)],
    products: products,
    traits: [
        .trait(name: "Macros", description: "The macros of ManagedMacros, which need swift-syntax."),
        .trait(
            name: "Observability",
            description: "Logs, metrics and traces of stores, which need swift-log, swift-metrics and others."),
        .trait(name: "PostgreSQL", description: "Stores in PostgreSQL, which need libpq."),
    ],
    dependencies: [
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.90.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.7.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.3.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.8.0"),
        .package(url: "https://github.com/swiftlang/swift-syntax", "600.0.0"..<"604.0.0"),
    ],
    targets: targets,
    swiftLanguageModes: [.v6]
)
