import Testing

@testable import ModelCodeGeneration

/// The values of `#if` conditions outside Apple's platforms.
@Suite struct ConditionStackTests {
    @Test(
        "A condition that is false outside Apple's platforms is known to be so",
        arguments: [
            "os(iOS)", "canImport(ObjectiveC)", "os(iOS) || os(macOS)", "os(iOS) && DEBUG", "DEBUG && (os(iOS))",
            "(os(iOS) || os(macOS)) && DEBUG", "!(!os(iOS))", "!(!os(iOS) || DEBUG)", "DEBUG && (os(iOS) || os(tvOS))",
            "defined(__APPLE__)", "defined __APPLE__", "TARGET_OS_IPHONE", "os(iOS)&&!DEBUG", "((os(iOS)))",
        ])
    func excluded(_ condition: String) {
        #expect(ConditionStack.value(of: condition) == false)
    }

    @Test(
        "A condition that is true outside Apple's platforms is known to be so",
        arguments: [
            "!os(iOS)", "!(DEBUG && os(watchOS))", "!(os(iOS) && DEBUG)", "!(os(iOS) || os(macOS))",
            "!os(iOS) && !os(macOS)", "DEBUG || !os(iOS)", "(!os(iOS))", "!canImport(ObjectiveC) || (DEBUG && os(iOS))",
        ])
    func included(_ condition: String) {
        #expect(ConditionStack.value(of: condition) == true)
    }

    @Test(
        "The value of other conditions is unknown",
        arguments: [
            "DEBUG", "!DEBUG", "os(Linux)", "!(A && os(Linux))", "A || os(iOS)", "(A || os(iOS)) && B",
            "!os(iOS) && DEBUG", "TARGET_OS_IOS == 0", "TARGET_OS_IOS==0", "(os(iOS)) == 1", "swift(>=6.0)",
            "compiler(>=6.0) || os(iOS)", "A && (B", "", "!", "()",
        ])
    func unknown(_ condition: String) {
        #expect(ConditionStack.value(of: condition) == nil)
    }

    @Test("Deep parentheses do not end the program")
    func depth() {
        let deep = String(repeating: "(", count: 100_000)
        #expect(ConditionStack.value(of: deep) == nil)
        let flat = String(repeating: "(", count: 40) + "os(iOS)" + String(repeating: ")", count: 40)
        #expect(ConditionStack.value(of: flat) == false)
        #expect(ConditionStack.value(of: "!(" + flat + " && A)") == true)
    }

    @Test("Code under a negation of a conjunction is compiled elsewhere")
    func negation() {
        let text = "import CoreData\n#if !(DEBUG && os(watchOS))\n@objc class A {}\n#else\n@objc class B {}\n#endif\n"
        let findings = PortingFinding.findings(in: text, file: "A.swift").map(\.line)
        #expect(findings == [3])
    }
}
