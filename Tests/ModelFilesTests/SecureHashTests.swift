import Foundation
import Testing

@testable import ModelFiles

@Suite struct SecureHashTests {
    private func hexadecimal(_ data: Data) -> String { data.map { String(format: "%02x", $0) }.joined() }

    @Test("The examples of the standard")
    func examples() {
        #expect(
            hexadecimal(SecureHash.sha256(Data("abc".utf8)))
                == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
        #expect(
            hexadecimal(SecureHash.sha256(Data()))
                == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
        #expect(
            hexadecimal(SecureHash.sha512(Data("abc".utf8)))
                == "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
                + "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f")
    }

    @Test("Every length up to several blocks, checked by a hash of the hashes")
    func lengths() {
        let texts = (0..<300).map { Data(repeating: UInt8(ascii: "a"), count: $0) }
        #expect(
            hexadecimal(SecureHash.sha256(texts.reduce(Data()) { $0 + SecureHash.sha256($1) }))
                == "80e953e3b006c4bab43fd5d792f8bd29c122f6cf1497318365fe66bf2d61398d")
        #expect(
            hexadecimal(SecureHash.sha512(texts.reduce(Data()) { $0 + SecureHash.sha512($1) }))
                == "31c336adab577370612bbdd2a77b25de07ec8389de752295ba890ce160fc8065"
                + "4d34f23f93a5819b359f2a8ef15f3f274cbfa5becc521e5728397d60265ffb21")
    }

    @Test("Authentication codes are those of RFC 4231")
    func authenticationCodes() {
        let code = SecureHash.authenticationCode(
            for: Data("what do ya want for nothing?".utf8), key: Data("Jefe".utf8))
        #expect(hexadecimal(code) == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
    }
}
