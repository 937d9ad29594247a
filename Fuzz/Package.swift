// swift-tools-version: 6.1
import PackageDescription

// One libFuzzer program for each reader of untrusted input. A separate package, because a fuzz target has no `main` and
// breaks a plain `swift build`. `Sources` contains links to the modules, so that these are built with the fuzzer's
// instrumentation too.

/// The readers, each a program `Fuzz…`, and the modules that it needs besides `FuzzSupport`.
let readers: [(name: String, dependencies: [Target.Dependency])] = [
    ("JSON", ["GraphDocuments"]), ("Lines", ["GraphDocuments"]), ("XML", ["GraphDocuments"]),
    ("PropertyList", ["GraphDocuments"]), ("Tree", ["GraphDocuments"]), ("KeyedArchive", ["KeyedArchives"]),
    ("Predicate", ["PredicateLanguage"]), ("ModelSource", ["ModelFiles"]), ("CompiledModel", ["ModelFiles"]),
    ("Mapping", ["GraphDocuments"]),
    ("Store", ["CoreData", "ManagedObjects", "StoreTools", "FuzzBooks"]), ("History", ["CoreData", "FuzzBooks"]),
    ("Query", ["CoreData", "PredicateLanguage", "FuzzBooks"]), ("Model", ["CoreData", "ManagedObjects", "FuzzBooks"]),
    ("Import", ["Coral", "CoralRows", "CoreData", "FuzzBooks"]),
    (
        "Request",
        [
            "Requests", .product(name: "NIOCore", package: "swift-nio"),
            .product(name: "NIOEmbedded", package: "swift-nio"), .product(name: "NIOHTTP1", package: "swift-nio"),
        ]
    ),
    ("Completion", ["CompletionWords", .product(name: "ArgumentParser", package: "swift-argument-parser")]),
]

let package = Package(
    name: "coral-fuzz",
    platforms: [.macOS(.v12)],
    dependencies: [
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.90.0"),
    ],
    targets: [
        .target(name: "AtomicFiles"),
        .target(name: "CodedErrors"),
        .target(name: "XMLReading", dependencies: ["CodedErrors"]),
        .target(name: "KeyedArchives", dependencies: ["CodedErrors", "XMLReading"]),
        .target(name: "PredicateLanguage"),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
        .target(
            name: "ModelFiles",
            dependencies: ["AtomicFiles", "CodedErrors", "KeyedArchives", "PredicateLanguage", "XMLReading", "CZlib"]),
        .target(name: "GraphDocuments", dependencies: ["AtomicFiles", "CodedErrors", "KeyedArchives", "XMLReading"]),
        .target(name: "StoreSupport"),
        .target(name: "SQLStatements", dependencies: ["PredicateLanguage", "StoreSupport"]),
        .target(name: "StoreRescue", dependencies: ["AtomicFiles", "SQLStatements"]),
        .target(name: "CoreDataErrors", dependencies: ["AtomicFiles"]),
        .target(
            name: "SQLiteConnections",
            dependencies: [
                "AtomicFiles", "CoreDataErrors", "PredicateLanguage", "SQLStatements", "StoreSupport",
                .product(name: "GRDB", package: "GRDB.swift"), .product(name: "GRDBSQLite", package: "GRDB.swift"),
            ]),
        .target(name: "FoundationAdditions", dependencies: ["KeyedArchives", "PredicateLanguage"]),
        .target(
            name: "ManagedObjects",
            dependencies: [
                "AtomicFiles", "CoreDataErrors", "FoundationAdditions", "KeyedArchives", "ModelFiles",
                "PredicateLanguage",
                "StoreSupport",
            ]),
        .target(
            name: "MemoryStores",
            dependencies: [
                "AtomicFiles", "CoreDataErrors", "FoundationAdditions", "KeyedArchives", "ManagedObjects",
                "PredicateLanguage", "StoreSupport", "XMLReading",
            ]),
        .target(
            name: "StoreMigrations",
            dependencies: [
                "AtomicFiles", "CoreDataErrors", "FoundationAdditions", "ManagedObjects", "MemoryStores", "ModelFiles",
                "PredicateLanguage",
            ]),
        .target(
            name: "FollowedResults",
            dependencies: ["CoreDataErrors", "FoundationAdditions", "ManagedObjects", "PredicateLanguage"]),
        .target(name: "ContextPools", dependencies: ["CoreDataErrors", "ManagedObjects", "StoreSupport"]),
        .target(
            name: "SQLStores",
            dependencies: [
                "AtomicFiles", "CoreDataErrors", "FoundationAdditions", "ManagedObjects", "ModelFiles",
                "PredicateLanguage", "SQLiteConnections", "SQLStatements", "StoreSupport",
                .product(name: "GRDB", package: "GRDB.swift"), .product(name: "GRDBSQLite", package: "GRDB.swift"),
            ]),
        .target(
            name: "StoreTools",
            dependencies: [
                "AtomicFiles", "CoreDataErrors", "ManagedObjects", "ModelFiles", "PredicateLanguage",
                "SQLiteConnections",
                "SQLStatements", "SQLStores", "StoreRescue",
                .product(name: "GRDB", package: "GRDB.swift"), .product(name: "GRDBSQLite", package: "GRDB.swift"),
            ]),
        .target(
            name: "CoreData",
            dependencies: [
                "ContextPools", "CoreDataErrors", "FollowedResults", "FoundationAdditions", "ManagedObjects",
                "MemoryStores", "SQLStores", "StoreMigrations",
            ]),
        .target(
            name: "Coral",
            dependencies: [
                "AtomicFiles", "CodedErrors", "CoreData", "GraphDocuments", "KeyedArchives", "ModelFiles", "XMLReading",
            ]),
        .target(
            name: "CoralRows",
            dependencies: [
                "Coral", "CoreData", "GraphDocuments", "ManagedObjects", "SQLStores", "SQLiteConnections", "XMLReading",
            ]),
        // The file of the command that quotes completions for shells.
        .target(
            name: "CompletionWords",
            dependencies: [.product(name: "ArgumentParser", package: "swift-argument-parser")]),
        // The files of the command that check requests.
        .target(name: "Requests", dependencies: [.product(name: "NIOHTTP1", package: "swift-nio")]),
        .target(name: "FuzzSupport", dependencies: ["GraphDocuments"]),
        .target(
            name: "FuzzBooks",
            dependencies: ["CoreData", "FuzzSupport", .product(name: "GRDB", package: "GRDB.swift")]),
    ]
        + readers.map { reader in
            .executableTarget(
                name: "Fuzz\(reader.name)", dependencies: reader.dependencies + ["FuzzSupport"],
                // libFuzzer contains `main`.
                swiftSettings: [.unsafeFlags(["-parse-as-library"])])
        },
    swiftLanguageModes: [.v6]
)
