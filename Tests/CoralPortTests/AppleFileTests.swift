#if Macros
    import Testing

    @testable import CoralPort

    /// Code that only Apple's platforms have, and its replacement on others.
    @Suite struct AppleFileTests {
        /// SwiftSync: property wrappers of SwiftUI in two files, their test in a third.
        @Test(
            "A file of SwiftUI that no other needs is compiled on Apple's platforms only, with the tests of its types")
        func views() {
            #expect(
                rewritten(
                    "// Views\nimport SwiftUI\n\nstruct NoteView: View {}\n",
                    "import XCTest\n\nfinal class NoteViewTests: XCTestCase { let view = NoteView() }\n",
                    "import CloudKit\nimport XCTest\n\nfinal class NoteTests: XCTestCase {}\n",
                    "import XCTest\n\nfinal class NoteTests: XCTestCase {}\n") == [
                        "// Views\n#if canImport(SwiftUI)\nimport SwiftUI\n\nstruct NoteView: View {}\n#endif\n",
                        """
                        #if canImport(SwiftUI)
                        import XCTest

                        final class NoteViewTests: XCTestCase { let view = NoteView() }
                        #endif

                        """,
                        "#if canImport(CloudKit)\nimport CloudKit\nimport XCTest\n\nfinal class NoteTests: XCTestCase {}\n#endif\n",
                        "import XCTest\n\nfinal class NoteTests: XCTestCase {}\n",
                    ])
        }

        /// PredicateKit: the tests of several files have private members of the same name.
        @Test("Members of a private extension are not those that other files name")
        func privateMembers() {
            let view = "import SwiftUI\nimport XCTest\n\nfinal class ViewTests: XCTestCase {}\n"
            let dates = "private extension Date { static let now = Date() }\n"
            let other = "import XCTest\n\nfinal class DateTests: XCTestCase { let now = 1 }\n"
            #expect(rewritten(view + dates, other) == ["#if canImport(SwiftUI)\n" + view + dates + "#endif\n", other])
            let named = dates.replacing("private ", with: "")
            #expect(rewritten(view + named, other) == [view + named, other])
        }

        /// ARCStorage: a repository over a storage in the keychain. EZSwiftData: tests of previews, with models of their own.
        @Test(
            "Files that use a closed one are closed with it, if no other needs them, and tests with models of SwiftData"
        )
        func users() {
            let keychain = "import Security\n\npublic final class KeychainStorage {}\n"
            let repository = "public struct KeychainRepository { let storage: KeychainStorage }\n"
            let closed = rewritten(keychain, repository, "struct Other {}\n")
            #expect(closed[0].hasPrefix("#if canImport(Security)\nimport Security"))
            #expect(closed[1] == "#if canImport(Security)\n" + repository + "#endif\n")
            #expect(closed[2] == "struct Other {}\n")
            for use in [
                "let r: KeychainRepository\n", "extension KeychainStorage {}\n", "let storage = KeychainStorage()\n",
            ] {
                let open = [keychain, repository, use, use + "let x = 1\n", use + "let y = 1\n"]
                #expect(rewritten(open[0], open[1], open[2], open[3], open[4]) == open)
            }
            let test = "import SwiftUI\nimport Testing\n\n@Model final class Pet {}\n@Test func seeds() { seeded() }\n"
            let previews = rewritten("import SwiftUI\n\nextension Trait { func seeded() {} }\n", test)
            #expect(previews[0].hasPrefix("#if canImport(SwiftUI)"))
            #expect(previews[1] == "#if canImport(SwiftUI)\n" + test + "#endif\n")
            // Other tests use the model.
            let pets = "import Testing\n\n@Test func names() { _ = Pet() }\n"
            #expect(rewritten("import SwiftUI\n\nextension Trait { func seeded() {} }\n", test, pets)[1] == test)
        }

        /// CoreDataKit merges the models of its tests.
        @Test("All bundles are the main one elsewhere, with those of the targets")
        func allBundles() {
            #expect(
                rewritten("let model = NSManagedObjectModel.mergedModel(from: Bundle.allBundles)!") == [
                    """
                    import CoreData

                    #if canImport(ObjectiveC)
                    let model = NSManagedObjectModel.mergedModel(from: Bundle.allBundles)!
                    #else
                    let model = NSManagedObjectModel.mergedModel(from: [Bundle.main])!
                    #endif
                    """
                ])
        }

        /// CoreDataKit searches for the files of its tests in a long loop.
        @Test("All bundles in a statement that is too long to be written twice")
        func allBundlesInLoop() {
            let loop =
                "import Foundation\nfor bundle in Bundle.allBundles {\n"
                + String(repeating: "    print(bundle)\n", count: 9) + "}\n"
            #expect(
                rewritten(loop) == [
                    loop.replacing(
                        "Bundle.allBundles",
                        with: "(Bundle.allBundles.isEmpty ? [Bundle.main] : Bundle.allBundles)")
                ])
        }

        /// As scout begins and ends its sessions.
        @Test("Notifications of the application by their names, without the module")
        func applicationNotifications() {
            #expect(
                rewritten(
                    """
                    #if canImport(UIKit)
                        import UIKit
                    #else
                        import AppKit
                    #endif

                    var end: Notification.Name {
                        #if canImport(UIKit)
                            UIApplication.didEnterBackgroundNotification
                        #else
                            NSApplication.didResignActiveNotification
                        #endif
                    }
                    """, "import AppKit\n\nlet color: NSColor") == [
                        """
                        #if canImport(UIKit)
                            import UIKit
                        #else
                            #if canImport(AppKit)
                        import AppKit
                        #else
                        import Foundation
                        #endif
                        #endif

                        var end: Notification.Name {
                            #if canImport(UIKit)
                                UIApplication.didEnterBackgroundNotification
                            #else
                                #if canImport(ObjectiveC)
                                NSApplication.didResignActiveNotification
                                #else
                                Notification.Name("NSApplicationDidResignActiveNotification")
                                #endif
                            #endif
                        }
                        """, "#if canImport(AppKit)\nimport AppKit\n\nlet color: NSColor\n#endif\n",
                    ])
        }

        @Test("The handler of uncaught exceptions")
        func uncaughtExceptions() {
            #expect(
                rewritten(
                    """
                    private var previous: NSUncaughtExceptionHandler?
                    func install() {
                        previous = NSGetUncaughtExceptionHandler()
                        NSSetUncaughtExceptionHandler { exception in
                            previous?(exception)
                        }
                        report()
                    }
                    """) == [
                        """
                        #if canImport(ObjectiveC)
                        private var previous: NSUncaughtExceptionHandler?
                        #endif
                        func install() {
                            #if canImport(ObjectiveC)
                            previous = NSGetUncaughtExceptionHandler()
                            #endif
                            #if canImport(ObjectiveC)
                            NSSetUncaughtExceptionHandler { exception in
                                previous?(exception)
                            }
                            #endif
                            report()
                        }
                        """
                    ])
        }

        @Test(
            "A file stays if others need it, or if it has a model's class, the program's beginning or an initialiser",
            arguments: [
                "struct Badge {}", "extension Name { var badge: Int { 1 } }", "extension Name { init(view: Int) {} }",
                "final class Note: NSManagedObject {}", "@Model final class Note {}", "@main struct Program {}",
            ])
        func needed(declaration: String) {
            let file = "import CoreData\nimport SwiftUI\n\(declaration)\n"
            let other = "struct Name { var text: Any { Badge().badge } }\n"
            #expect(
                rewritten(file, other).first
                    == rewritten(file.replacing("import SwiftUI\n", with: ""), other).first.map {
                        $0.replacing("import CoreData\n", with: "import CoreData\nimport SwiftUI\n")
                    })
        }

        /// BrowserServicesKit: a type of the keychain, and objects that are associated with those of Foundation.
        @Test(
            "A file with names that Foundation imports on Apple's platforms is compiled on those, if no other needs it")
        func foundationModules() {
            let keychain = "import Foundation\nenum Keychain { static let key = kSecClass }\n"
            let observer = "extension NSObject { var observer: Any? { objc_getAssociatedObject(self, \"key\") } }\n"
            let note = "final class Note {}\n"
            let text = observer.replacing("NSObject", with: "Note").replacing("observer", with: "reader")
            #expect(
                rewritten(keychain, observer, note, text) == [
                    "#if canImport(Security)\n\(keychain)#endif\n", "#if canImport(ObjectiveC)\n\(observer)#endif\n",
                    note,
                    text,
                ])
            #expect(rewritten(keychain, "let keychain = Keychain.key\n").first == keychain)
        }

        /// scout and SwiftSync.
        @Test("Numbers are compared by their type, and CryptoKit is swift-crypto elsewhere")
        func numbers() {
            #expect(
                rewritten(
                    """
                    import CryptoKit
                    func f(value: Any, other: Any) -> Bool {
                        switch value {
                        case let number as NSNumber where CFNumberIsFloatType(number): true
                        case let number as NSNumber: CFGetTypeID(number) == CFBooleanGetTypeID()
                        default: CFGetTypeID(other) == CFBooleanGetTypeID()
                        }
                    }
                    """) == [
                        """
                        #if canImport(CryptoKit)
                        import CryptoKit
                        #else
                        import Crypto
                        #endif
                        func f(value: Any, other: Any) -> Bool {
                            switch value {
                            case let number as NSNumber where ["d", "f"].contains(String(cString: number.objCType)): true
                            case let number as NSNumber: ({ () -> Bool in
                            #if canImport(ObjectiveC)
                            return CFGetTypeID(number) == CFBooleanGetTypeID()
                            #else
                            return String(cString: number.objCType) == "c"
                            #endif
                            }())
                            default: CFGetTypeID(other) == CFBooleanGetTypeID()
                            }
                        }
                        """
                    ])
        }

        @Test("The test for a Boolean number keeps its Core Foundation form on Apple's platforms")
        func truthValues() {
            #expect(
                rewritten(
                    """
                    func f(number: NSNumber) {
                        let isTruthValue = CFGetTypeID(number) == CFBooleanGetTypeID()
                    }
                    """) == [
                        """
                        func f(number: NSNumber) {
                            #if canImport(ObjectiveC)
                            let isTruthValue = CFGetTypeID(number) == CFBooleanGetTypeID()
                            #else
                            let isTruthValue = String(cString: number.objCType) == "c"
                            #endif
                        }
                        """
                    ])
        }

        /// CoreDataEvolution.
        @Test("A file with an observer of a run loop imports CoreFoundation, and the mode has C's name elsewhere")
        func runLoops() {
            #expect(
                rewritten(
                    """
                    import Foundation
                    func f(_ observer: CFRunLoopObserver) {
                        CFRunLoopAddObserver(CFRunLoopGetMain(), observer, .commonModes)
                    }
                    """) == [
                        """
                        import Foundation
                        #if canImport(CoreFoundation)
                        import CoreFoundation
                        #endif
                        func f(_ observer: CFRunLoopObserver) {
                            #if canImport(ObjectiveC)
                            CFRunLoopAddObserver(CFRunLoopGetMain(), observer, .commonModes)
                            #else
                            CFRunLoopAddObserver(CFRunLoopGetMain(), observer, kCFRunLoopCommonModes)
                            #endif
                        }
                        """
                    ])
        }

        /// scout.
        @Test("A file with a subclass of Bundle imports CoreFoundation")
        func bundles() {
            let text = "import Foundation\nfinal class Stub: Bundle {}\n"
            #expect(
                rewritten(text) == [
                    "import Foundation\n#if canImport(CoreFoundation)\nimport CoreFoundation\n#endif\nfinal class Stub: Bundle {}\n"
                ])
        }

        /// SwiftSync: the package manager's list of the tests of such a class does not compile.
        @Test(
            "Tests of the main actor become asynchronous, and expected failures are left out"
        )
        func tests() {
            #expect(
                rewritten(
                    """
                    import XCTest
                    final class NoteTests: XCTestCase {
                        @MainActor func testTitle() throws {
                            XCTExpectFailure("later")
                        }
                        @MainActor func testText() async throws {}
                        func testDate() {}
                        @MainActor func makeNote() {}
                    }
                    @MainActor final class TagTests: XCTestCase {
                        func testName() {}
                        func testColor() {}
                    }
                    """) == [
                        """
                        import XCTest
                        final class NoteTests: XCTestCase {
                            @MainActor func testTitle() async throws {
                                #if canImport(ObjectiveC)
                                XCTExpectFailure("later")
                                #endif
                            }
                            @MainActor func testText() async throws {}
                            func testDate() {}
                            @MainActor func makeNote() {}
                        }
                        @MainActor final class TagTests: XCTestCase {
                            func testName() async {}
                            func testColor() async {}
                        }
                        """
                    ])
        }
    }
#endif
